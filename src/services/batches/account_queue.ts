/** The batches of one account that one process runs simultaneously, so that those of others begin. */
const MAX_RUNS_OF_ACCOUNT = 4;
/** How long a batch waits for the others of its account. */
const WAIT_MS = 5_000;
/** The batches of an account that are looked at within {@linkcode WAIT_MS}. Each look writes to the store. */
const LOOKS = 20;

/** The batches of each account that wait in this process for its others. */
export class AccountQueue {
  readonly #waiting = new Map<string, Set<string>>();

  /** Whether a further batch of an account that has so many runs waits. */
  isFull(runs: number): boolean {
    return runs >= MAX_RUNS_OF_ACCOUNT;
  }

  /** How long a batch waits before its next look: the longer, the more of its account wait. */
  pauseMs(account: string, batchId: string): number {
    const waiting = this.#waiting.get(account) ?? new Set();
    this.#waiting.set(account, waiting.add(batchId));
    return WAIT_MS * Math.ceil(waiting.size / LOOKS);
  }

  /** A batch has begun. */
  leave(account: string, batchId: string): void {
    const waiting = this.#waiting.get(account);
    waiting?.delete(batchId);
    if (waiting?.size === 0) this.#waiting.delete(account);
  }
}
