import { EmptyState } from "../../../components/empty_state.tsx";
import type { ListedModel } from "../../../shapes.ts";
import { TEXTS } from "../../../texts.ts";
import type { Call, CallResult, Message } from "../conversation.ts";
import { FileView } from "../file_view.tsx";
import { Markdown } from "../markdown.tsx";
import { ModelChoice } from "../model_choice.tsx";
import { canSend } from "../payer.ts";
import { CallView } from "./call_view.tsx";
import type { Pane, PaneRequest } from "./pane.ts";
import { ReplyView } from "./reply_view.tsx";

const texts = TEXTS.playground.chat;

/** A conversation with one model. */
export function PaneView({ name, pane, models, mockResultOf, requestFor }: {
  /** Of the choice of the model. */
  readonly name: string;
  readonly pane: Pane;
  readonly models: readonly ListedModel[];
  readonly mockResultOf: (tool: string) => string;
  readonly requestFor: (pane: Pane) => PaneRequest;
}) {
  const turns = pane.turns.value;
  const last = turns.at(-1);
  const isComplete = last?.role === "reply" && last.state !== "running";
  return (
    <section class="card pane" aria-label={texts.conversation(pane.model.value)}>
      <ModelChoice name={name} models={models} value={pane.model.value} onChange={(id) => pane.model.value = id} />
      {turns.length === 0 ? <EmptyState title={texts.emptyTitle}>{texts.empty}</EmptyState> : (
        <ol class="turns">
          {turns.map((turn, place) => (
            <li key={turn.role === "reply" ? `reply ${turn.id}` : place} class={`turn ${turn.role}`}>
              {turn.role === "reply"
                ? (
                  <ReplyView
                    turn={turn}
                    onRetry={turn === last && canSend()
                      ? () => void pane.retry(requestFor(pane))
                      : null}
                  />
                )
                : <MessageView message={turn} />}
            </li>
          ))}
        </ol>
      )}
      <span class="visually-hidden" role="status">{isComplete ? texts.complete : ""}</span>
      {pane.pendingCalls.length > 0 && (
        <ResultsForm
          key={turns.length}
          calls={pane.pendingCalls}
          mockResultOf={mockResultOf}
          onSend={(results) => void pane.sendResults(results, requestFor(pane))}
        />
      )}
    </section>
  );
}

function MessageView({ message }: { readonly message: Message }) {
  if (message.role === "assistant") {
    return (
      <>
        <Markdown text={message.text} />
        {message.calls.map((call) => <CallView key={call.id} call={call} />)}
      </>
    );
  }
  if (message.role === "tool") {
    return (
      <>
        <h3>{texts.results}</h3>
        {message.results.map(({ id, name, text }) => (
          <div key={id}>
            <span class="badge plain">{name}</span>
            <pre tabIndex={0}>{text}</pre>
          </div>
        ))}
      </>
    );
  }
  return (
    <>
      <h3>{texts.you}</h3>
      {message.parts.map((part, place) =>
        part.kind === "text" ? <p key={place}>{part.text}</p> : <FileView key={place} file={part} />
      )}
    </>
  );
}

/** A form for the results of calls. The mock results of the tools are proposed. */
function ResultsForm({ calls, mockResultOf, onSend }: {
  readonly calls: readonly Call[];
  readonly mockResultOf: (tool: string) => string;
  readonly onSend: (results: readonly CallResult[]) => void;
}) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    onSend(calls.map(({ id, name }, place) => ({ id, name, text: String(fields.get(`result${place}`) ?? "") })));
  };
  return (
    <form class="results" onSubmit={submit}>
      {calls.map(({ id, name }, place) => (
        <label key={id} class="field">
          <span>{texts.resultOf(name)}</span>
          <textarea
            class="code"
            name={`result${place}`}
            rows={3}
            spellcheck={false}
            defaultValue={mockResultOf(name)}
          />
        </label>
      ))}
      <button type="submit" class="primary" disabled={!canSend()}>{texts.sendResults}</button>
    </form>
  );
}
