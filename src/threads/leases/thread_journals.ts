import { type Clock, sleep } from "../../platform/lib/basics/clock.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";

/** Where the journal of charges of a thread is. */
export interface ThreadJournalPlace {
  /** The folder of the journals of all threads. */
  readonly folder: string;
  /** Whether charges are synced to the disk. */
  readonly isPower: boolean;
  readonly firstSegment: number;
  /** The difference between the numbers of its segments. */
  readonly step: number;
}

/** The journals of the charges of isolates, by their numbers. */
export interface ThreadJournals {
  /** Where the journal of an isolate is that starts. */
  placeOf(slot: number): Promise<ThreadJournalPlace>;
  /** Writes the charges to the ledger that an ended isolate left in its journal. Rejects as the store does. */
  replay(slot: number): Promise<void>;
}

/** What {@linkcode replayThreadJournal} needs. */
export interface ReplayParts {
  readonly journals: ThreadJournals;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the gateway stops. */
  readonly isStopping: () => boolean;
}

/** Time between two attempts to write the charges of an isolate that has ended to the ledger. */
const REPLAY_RETRY_MS = 1_000;

/** Writes the charges that an ended isolate left in its journal to the ledger. Retries until the gateway stops. */
export async function replayThreadJournal(
  slot: number,
  { journals, clock, log, isStopping }: ReplayParts,
): Promise<void> {
  for (let isFirst = true;; isFirst = false) {
    try {
      return await journals.replay(slot);
    } catch (error) {
      const reason = errorName(error);
      if (isFirst) log.error("isolate_journal_unwritten", { count: slot, reason });
      if (isStopping()) return; // the next start replays it
      await sleep(clock, REPLAY_RETRY_MS);
    }
  }
}
