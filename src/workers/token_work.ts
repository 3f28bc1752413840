import { threadModule } from "../lib/program_files.ts";
import { type ThreadWorkOptions, WorkerFailure, WorkerPool } from "./worker_pool.ts";
import { THREAD_IDLE_MS, threadStarter } from "./worker_thread.ts";

/** Counts tokens in a thread. */
export interface TokenWork {
  /**
   * Counts the tokens of a text. Never rejects. If the thread fails, four characters count as one token and the failure
   * is logged.
   */
  count(text: string): Promise<number>;
  /** Resolves when no count is running and all callers have received their results. */
  whenIdle(): Promise<void>;
  /** Ends the thread. */
  close(): void;
}

const JOB_MS = 30_000;
/**
 * A text has at most 200,000 characters, so the queue holds at most 200 MB. Most counts belong to charges that await
 * them, so few are refused.
 */
const MAX_QUEUED = 500;
const HEAP_MEGABYTES = 512;
const CHARACTERS_PER_TOKEN = 4;
/** All accounts share one queue: a count takes some tenths of a second at most. */
const SHARED_QUEUE = "";

/** Creates a token counter whose thread starts on first use. */
export function createTokenWork({ clock, log, start }: ThreadWorkOptions): TokenWork {
  const entry = threadModule("workers/token_entry");
  const pool = new WorkerPool({
    name: "tokens",
    start: start ?? threadStarter({ kind: "tokens", entry, heapMegabytes: HEAP_MEGABYTES }),
    maxThreads: 1,
    maxQueued: MAX_QUEUED,
    maxQueuedPerAccount: MAX_QUEUED,
    jobMs: JOB_MS,
    idleMs: THREAD_IDLE_MS,
    clock,
    log,
  });
  let counting = 0;
  return {
    async count(text) {
      counting++;
      try {
        return await pool.run(text, { accountId: SHARED_QUEUE }) as number;
      } catch (error) {
        const reason = error instanceof WorkerFailure ? error.kind : "failed";
        log.warn("tokens_counted_roughly", { reason, count: text.length });
        return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
      } finally {
        counting--;
      }
    },
    async whenIdle() {
      // A count may be followed by another: of the reply, then of the prompt.
      do await new Promise((resolve) => setTimeout(resolve, 0)); while (counting > 0);
    },
    close: () => pool.close(),
  };
}
