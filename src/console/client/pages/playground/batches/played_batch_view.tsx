import { ErrorNotice } from "../../../components/error_notice.tsx";
import { dollars, number } from "../../../format.ts";
import { hrefOf } from "../../../navigation.ts";
import { TEXTS } from "../../../texts.ts";
import { BatchBadge } from "../../batches/batch_badge.tsx";
import { LineProgress } from "../../batches/line_progress.tsx";
import { isRunning } from "../../batches/shown_batch.ts";
import { CallView } from "../chat/call_view.tsx";
import { Markdown } from "../markdown.tsx";
import type { LineAnswer } from "./batch_answers.ts";
import type { OrderedLine } from "./batch_order.ts";
import type { PlayedBatch } from "./batch_play.ts";

const texts = TEXTS.playground.batches;

/** The replies that are shown here. The page of the batch has all of them to download. */
const MAX_SHOWN = 100;

/** A batch with the progress of its lines, its cost beside its estimate, and its replies. */
export function PlayedBatchView({ run, onCancel }: { readonly run: PlayedBatch; readonly onCancel: () => void }) {
  const { lines, batch, answers, error } = run;
  return (
    <section class="card run" aria-label={texts.run(number(run.number + 1))} aria-busy={answers === null}>
      <h2>{texts.run(number(run.number + 1))}</h2>
      {batch !== null && (
        <>
          <div class="actions" role="status">
            <BatchBadge status={batch.status} />
            <span class="hint">{texts.cost(dollars(batch.cost), dollars(batch.estimate))}</span>
            <span class="hint">{TEXTS.batches.mode}: {TEXTS.batches.modes[batch.mode]}</span>
          </div>
          <LineProgress lines={batch.lines} />
          <div class="actions">
            <a class="button small" href={hrefOf(`batches/${batch.id}`)}>{texts.open}</a>
            {isRunning(batch) && (
              <button type="button" class="small danger" onClick={onCancel}>{TEXTS.batches.cancel}</button>
            )}
          </div>
          {batch.errors.map(({ code, line, message }, place) => (
            <p key={place} class="problem">
              {line !== null && `${texts.line(number(line))}: `}
              {code}: {message}
            </p>
          ))}
        </>
      )}
      {error !== null && <ErrorNotice error={error} />}
      {answers !== null && (
        <ol class="turns">
          {lines.slice(0, MAX_SHOWN).map((line) => (
            <AnswerView key={line.customId} line={line} answer={answers.get(line.customId) ?? null} />
          ))}
        </ol>
      )}
      {answers !== null && lines.length > MAX_SHOWN && (
        <p class="hint">{texts.more(number(lines.length - MAX_SHOWN))}</p>
      )}
    </section>
  );
}

function AnswerView({ line: { model, prompt }, answer }: {
  readonly line: OrderedLine;
  readonly answer: LineAnswer | null;
}) {
  return (
    <li class="turn reply">
      <h3>{model}</h3>
      <p class="run-prompt">{prompt}</p>
      {answer === null && <p class="hint">{texts.noAnswer}</p>}
      {answer !== null && answer.error !== null && <p class="problem">{answer.error.code}: {answer.error.message}</p>}
      {answer !== null && answer.error === null && (
        <>
          <Markdown text={answer.text} />
          {answer.calls.map((call) => <CallView key={call.id} call={call} />)}
          <p class="hint">
            {TEXTS.playground.facts.tokens(number(answer.tokens.input), number(answer.tokens.output))}
          </p>
        </>
      )}
    </li>
  );
}
