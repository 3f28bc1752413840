import { useEffect } from "preact/hooks";
import { Card } from "../../../components/card.tsx";
import { EmptyState } from "../../../components/empty_state.tsx";
import { ErrorNotice } from "../../../components/error_notice.tsx";
import { dollars, number } from "../../../format.ts";
import type { ListedModel } from "../../../shapes.ts";
import { TEXTS } from "../../../texts.ts";
import type { ChatState } from "../chat/chat_state.ts";
import { Settings } from "../chat/settings.tsx";
import { ChosenFiles } from "../file_input.tsx";
import { ModelChoice } from "../model_choice.tsx";
import { canSend, payer } from "../payer.ts";
import type { BatchPlay } from "./batch_play.ts";
import { type BatchDraft, isWritten } from "./batch_order.ts";
import { PlayedBatchView } from "./played_batch_view.tsx";

const texts = TEXTS.playground.batches;

/** Prompts and models that become a batch, beside the settings of the chat, and the batches that were created. */
export function BatchWorkspace({ state, chat, models }: {
  readonly state: BatchPlay;
  /** Has the settings, which a batch shares with it. */
  readonly chat: ChatState;
  readonly models: readonly ListedModel[];
}) {
  const usable = models.filter(({ architecture }) => architecture.output_modalities.includes("text"));
  useEffect(() => {
    const known = state.models.value.filter((model) => usable.some(({ id }) => id === model));
    state.models.value = known.length > 0 ? known : usable.slice(0, 1).map(({ id }) => id);
  }, [models]);
  const settings = chat.settings();
  // What was estimated is what is sent: other settings or another account need another estimate.
  useEffect(() => state.forget(), [JSON.stringify(settings), payer.value]);
  if (usable.length === 0) {
    return <EmptyState title={TEXTS.models.emptyTitle}>{TEXTS.playground.noModels}</EmptyState>;
  }
  const order = { prompts: state.prompts.value, models: state.models.value, settings };
  return (
    <div class="play">
      <Settings state={chat} isOfBatch />
      <div class="play-main">
        <Order state={state} order={order} models={usable} isValid={chat.isValid.value} />
        {state.runs.value.map((run) => (
          <PlayedBatchView
            key={run.number}
            run={run}
            onCancel={() => void state.cancel(run)}
          />
        ))}
      </div>
    </div>
  );
}

function Order({ state, order, models, isValid }: {
  readonly state: BatchPlay;
  readonly order: BatchDraft;
  readonly models: readonly ListedModel[];
  readonly isValid: boolean;
}) {
  const isReady = canSend() && isValid && order.prompts.some(isWritten) && order.models.length > 0;
  const quote = state.quote.value;
  return (
    <Card title={texts.title}>
      <p class="hint">{texts.hint}</p>
      <form
        class="batch-order"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void (quote === null ? state.ask(order) : state.create(order));
        }}
      >
        <Prompts state={state} />
        <Models state={state} models={models} />
        {!isValid && <p class="hint">{TEXTS.playground.chat.invalid}</p>}
        {state.quoteError.value !== null && <ErrorNotice error={state.quoteError.value} />}
        {quote !== null && (
          <div class="notice" role="status">
            <p>
              <strong>{texts.quote(number(quote.lines), dollars(quote.estimate))}</strong>
            </p>
            <p>{texts.modes[quote.mode]}</p>
            {quote.refusal !== "" && <p class="problem">{texts.refused(quote.refusal)}</p>}
          </div>
        )}
        <div class="actions">
          <button type="submit" class="primary" disabled={!isReady}>{quote === null ? texts.ask : texts.create}</button>
        </div>
      </form>
    </Card>
  );
}

function Prompts({ state }: { readonly state: BatchPlay }) {
  const prompts = state.prompts.value;
  return (
    <fieldset class="tools">
      <legend>{texts.prompts}</legend>
      {prompts.map(({ id, text, files }, place) => (
        <div key={id} class="tool">
          <textarea
            name={`prompt${place + 1}`}
            rows={2}
            aria-label={texts.prompt(number(place + 1))}
            value={text}
            onInput={(event) => state.changePrompt(id, { text: event.currentTarget.value })}
          />
          {files.length > 0 && (
            <ChosenFiles
              label={TEXTS.playground.chat.attached}
              files={files}
              onChange={(left) => state.changePrompt(id, { files: left })}
            />
          )}
          {prompts.length > 1 && (
            <button type="button" class="small" onClick={() => state.removePrompt(id)}>
              {texts.removePrompt(number(place + 1))}
            </button>
          )}
        </div>
      ))}
      <button type="button" class="small" onClick={() => state.addPrompt()}>{texts.addPrompt}</button>
    </fieldset>
  );
}

function Models({ state, models }: { readonly state: BatchPlay; readonly models: readonly ListedModel[] }) {
  const chosen = state.models.value;
  const next = models.find(({ id }) => !chosen.includes(id));
  return (
    <fieldset class="tools">
      <legend>{texts.models}</legend>
      {chosen.map((model, place) => (
        <div key={model} class="tool">
          <ModelChoice
            name={texts.model(number(place + 1))}
            models={models.filter(({ id }) => id === model || !chosen.includes(id))}
            value={model}
            onChange={(id) => state.chooseModels(chosen.with(place, id))}
          />
          {chosen.length > 1 && (
            <button
              type="button"
              class="small"
              onClick={() => state.chooseModels(chosen.filter((each) => each !== model))}
            >
              {texts.removeModel(model)}
            </button>
          )}
        </div>
      ))}
      {next !== undefined && (
        <button
          type="button"
          class="small"
          onClick={() => state.chooseModels([...chosen, next.id])}
        >
          {texts.addModel}
        </button>
      )}
    </fieldset>
  );
}
