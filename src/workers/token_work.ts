import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { WorkerFailure, WorkerPool } from "./worker_pool.ts";
import { type StartThread, threadStarter } from "./worker_thread.ts";

/** Counting in a thread. */
export interface TokenWork {
  /**
   * The tokens of a text. Never rejects: when the thread fails, four characters count as one token, and that is logged.
   */
  count(text: string): Promise<number>;
  /** Resolves when nothing is being counted, and whoever asked has gone on with the result. */
  whenIdle(): Promise<void>;
  /** Ends the thread. */
  close(): void;
}

/** What {@linkcode createTokenWork} needs. */
export interface TokenWorkOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Given so that a test can replace the thread. Default: a thread that runs `token_entry.ts`. */
  readonly start?: StartThread;
}

const JOB_MS = 30_000;
const IDLE_MS = 120_000;
/** Texts of 200,000 characters at most, so at most 200 MB wait. Charges wait for most counts, so few are refused. */
const MAX_QUEUED = 500;
const HEAP_MEGABYTES = 512;
const CHARACTERS_PER_TOKEN = 4;
/** Counts are not told apart by account: each takes some tenths of a second at most. */
const EVERYBODY = "";

/** A counter in a thread that starts when it is first needed. */
export function createTokenWork({ clock, log, start }: TokenWorkOptions): TokenWork {
  const entry = new URL("./token_entry.ts", import.meta.url);
  const pool = new WorkerPool({
    name: "tokens",
    start: start ?? threadStarter({ entry, heapMegabytes: HEAP_MEGABYTES }),
    maxThreads: 1,
    maxQueued: MAX_QUEUED,
    maxQueuedPerAccount: MAX_QUEUED,
    jobMs: JOB_MS,
    idleMs: IDLE_MS,
    clock,
    log,
  });
  let counting = 0;
  return {
    async count(text) {
      counting++;
      try {
        return await pool.run(text, { accountId: EVERYBODY }) as number;
      } catch (error) {
        const reason = error instanceof WorkerFailure ? error.kind : "failed";
        log.warn("tokens_counted_roughly", { reason, count: text.length });
        return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
      } finally {
        counting--;
      }
    },
    async whenIdle() {
      // One count may be followed by another: of the reply, then of the prompt.
      do await new Promise((resolve) => setTimeout(resolve, 0)); while (counting > 0);
    },
    close: () => pool.close(),
  };
}
