import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";

/** Less is not counted, because every stream holds it. */
const UNCOUNTED_BYTES = 262_144;
/**
 * What the gateway holds at most for a caller that does not read: a read of the vendor and what became of it, the queue
 * of the platform's stream, and what its server writes to the socket.
 */
const MAX_UNREAD_BYTES = 1_048_576;
/** With a small limit, the share of an account's memory that one of its streams can count with. */
const MAX_ACCOUNT_SHARE = 1 / 4;

/** Counts what a stream holds for a caller that does not read, towards the memory of its account. One per stream. */
export class UnreadMemory {
  readonly #memory: HeldMemory;
  #lease: HeldMemory | null = null;

  /** @param memory The memory of the request. */
  constructor(memory: HeldMemory) {
    this.#memory = memory;
  }

  /**
   * The caller did not take what was sent last.
   *
   * @param sentBytes What was sent so far. It cannot have left more unread.
   * @throws {GatewayError} `overloaded` if there is no memory for it.
   */
  hold(sentBytes: number): void {
    if (sentBytes <= UNCOUNTED_BYTES) return;
    this.#lease ??= this.#memory.fork();
    const { accountLimitBytes } = this.#memory.budget;
    const bytes = Math.min(sentBytes, MAX_UNREAD_BYTES, accountLimitBytes * MAX_ACCOUNT_SHARE);
    if (bytes > this.#lease.held) this.#lease.reserve(bytes - this.#lease.held);
  }

  /** The caller reads again, or the stream is over. */
  release(): void {
    if (this.#lease !== null) this.#lease.releaseTo(0);
  }
}
