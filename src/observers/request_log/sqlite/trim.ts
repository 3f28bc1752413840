import { POSITIONS_PER_MS } from "../search.ts";
import type { LogFile } from "./log_file.ts";

/** Rows that one step removes: a few milliseconds. */
const ROWS_PER_DELETION = 500;
const PAGES_PER_STEP = 200;

/** What the log keeps. */
export interface Retention {
  /** How long rows are kept. */
  readonly retentionMs: number;
  /** The most bytes of all rows and their indexes. */
  readonly maxBytes: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Lets the thread do other work. */
  readonly pause: () => Promise<void>;
}

/** Removes rows that are too old, then the oldest ones until the rest is small enough. Returns their number. */
export async function trim(file: LogFile, { retentionMs, maxBytes, now, pause }: Retention): Promise<number> {
  const oldest = (now() - retentionMs) * POSITIONS_PER_MS;
  let removed = 0;
  while (true) {
    const isTooLarge = file.usedBytes > maxBytes;
    const step = file.deleteBefore(isTooLarge ? Number.MAX_SAFE_INTEGER : oldest, ROWS_PER_DELETION);
    removed += step;
    if (isTooLarge ? step === 0 : step < ROWS_PER_DELETION) break;
    await pause();
  }
  if (removed > 0) { while (file.shrink(PAGES_PER_STEP)) await pause(); }
  return removed;
}

/** Removes all rows of an account. Returns their number. A repeat completes an interrupted call. */
export async function deleteAccount(file: LogFile, account: string, pause: () => Promise<void>): Promise<number> {
  let after: number | null = 0;
  while ((after = file.overwriteOf(account, after, ROWS_PER_DELETION)) !== null) await pause();
  let removed = 0;
  while (true) {
    const step = file.deleteOf(account, ROWS_PER_DELETION);
    removed += step;
    if (step < ROWS_PER_DELETION) break;
    await pause();
  }
  while (file.shrink(PAGES_PER_STEP)) await pause();
  file.checkpoint();
  return removed;
}
