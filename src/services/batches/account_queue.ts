/** The batches of one account that one process runs simultaneously, so that those of others begin. */
const MAX_RUNS_OF_ACCOUNT = 4;
/** How long a batch waits for the others of its account. */
const WAIT_MS = 5_000;
/** The batches of an account that are looked at within {@linkcode WAIT_MS}. Each look writes to the store. */
const LOOKS = 20;
/** A batch that is not looked at again so long after its time is run by another gateway, or has ended. */
const FORGET_AFTER_MS = 600_000;

/** The batches of each account that wait in this process for its others. */
export class AccountQueue {
  /** When each is looked at again, in Unix milliseconds: the one that was looked at first is the first. */
  readonly #waiting = new Map<string, Map<string, number>>();

  /** Whether a further batch of an account that has so many runs waits. */
  isFull(runs: number): boolean {
    return runs >= MAX_RUNS_OF_ACCOUNT;
  }

  /** How long a batch waits before its next look: the longer, the more of its account wait. */
  pauseMs(account: string, batchId: string, now: number): number {
    const waiting = this.#waiting.get(account) ?? new Map<string, number>();
    this.#waiting.set(account, waiting);
    for (const [id, lookAt] of waiting) {
      if (lookAt + FORGET_AFTER_MS > now) break;
      waiting.delete(id);
    }
    waiting.delete(batchId);
    const pauseMs = WAIT_MS * Math.ceil((waiting.size + 1) / LOOKS);
    waiting.set(batchId, now + pauseMs);
    return pauseMs;
  }

  /** A batch has begun, or has ended. */
  leave(account: string, batchId: string): void {
    const waiting = this.#waiting.get(account);
    waiting?.delete(batchId);
    if (waiting?.size === 0) this.#waiting.delete(account);
  }
}
