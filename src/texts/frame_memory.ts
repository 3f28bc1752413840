import { GatewayError } from "../lib/gateway_error.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";

/** Frames up to this size are not counted: every stream holds one. */
const UNCOUNTED_BYTES = 262_144;

/** Counts the frame that a stream holds, such as one with a picture, among what its account holds. One per stream. */
export class FrameMemory {
  readonly #lease: MemoryLease;

  /** @param memory Of the request. */
  constructor(memory: MemoryLease) {
    this.#lease = memory.fork();
  }

  /**
   * Sets how much is held now; 0 gives all back.
   *
   * @throws {GatewayError} `overloaded` when there is no room for it.
   */
  hold(bytes: number): void {
    const counted = bytes > UNCOUNTED_BYTES ? bytes : 0;
    if (counted > this.#lease.held) this.#take(counted - this.#lease.held);
    else this.#lease.releaseTo(counted);
  }

  #take(bytes: number): void {
    try {
      this.#lease.reserve(bytes);
    } catch (cause) {
      const message = "Not enough memory for the reply: too much is under way. Retry later";
      throw new GatewayError("overloaded", message, { cause });
    }
  }
}
