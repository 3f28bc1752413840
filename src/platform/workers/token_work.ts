import { oneThreadPool, type ThreadWorkOptions, WorkerFailure } from "./worker_pool.ts";

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
export function createTokenWork(options: ThreadWorkOptions): TokenWork {
  const pool = oneThreadPool({
    kind: "tokens",
    module: "platform/workers/token_entry",
    heapMegabytes: HEAP_MEGABYTES,
    maxQueued: MAX_QUEUED,
    jobMs: JOB_MS,
  }, options);
  let counting = 0;
  return {
    async count(text) {
      counting++;
      try {
        return await pool.run(text, { accountId: SHARED_QUEUE }) as number;
      } catch (error) {
        const reason = error instanceof WorkerFailure ? error.kind : "failed";
        options.log.warn("tokens_counted_roughly", { reason, count: text.length });
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
