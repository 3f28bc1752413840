import { number } from "../../format.ts";
import { TEXTS } from "../../texts.ts";
import type { ShownBatch } from "./shown_batch.ts";

/** How many lines of a batch have ended, and how many of them failed. */
export function LineProgress({ lines: { total, completed, failed } }: Pick<ShownBatch, "lines">) {
  const { progress, of, failedLines } = TEXTS.batches;
  const ended = completed + failed;
  return (
    <>
      <progress aria-label={progress} max={Math.max(total, 1)} value={ended} />
      <div class="hint">
        {of(number(ended), number(total))}
        {failed > 0 && `, ${failedLines(number(failed))}`}
      </div>
    </>
  );
}
