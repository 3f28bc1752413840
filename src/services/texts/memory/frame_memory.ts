import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";

/** Frames up to this size are not counted, because every stream holds one. */
const UNCOUNTED_BYTES = 262_144;

/**
 * Counts the frame that a stream holds, such as one with a picture, towards the memory of its account. Create one per
 * stream.
 */
export class FrameMemory {
  readonly #lease: HeldMemory;

  /** @param memory The memory of the request. */
  constructor(memory: HeldMemory) {
    this.#lease = memory.fork();
  }

  /**
   * Sets the number of bytes that are held. 0 releases all.
   *
   * @throws {GatewayError} `overloaded` if there is no memory for it.
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
      const message = "Not enough memory for the reply: too many requests are in progress; retry later";
      throw new GatewayError("overloaded", message, { cause });
    }
  }
}

/** Shorter replies are not counted, because almost all are. The memory is counted in steps of as many bytes. */
const STEP_BYTES = 1_048_576;
/** Bytes of memory for each byte of a stream: its text, the values that are read of it, and what is written. */
const MEMORY_FACTOR = 3;

/**
 * Counts a stream that is translated towards the memory of its account: text, reasoning, calls and citations are kept
 * until its end, and a vendor can send them without one. Create one per stream.
 */
export class ReplyMemory {
  readonly #memory: FrameMemory;
  #received = 0;
  #counted = 0;

  /** @param memory The memory of the request. */
  constructor(memory: HeldMemory) {
    this.#memory = new FrameMemory(memory);
  }

  /**
   * Counts bytes that were received.
   *
   * @throws {GatewayError} `overloaded` if there is no memory for them.
   */
  add(bytes: number): void {
    this.#received += bytes;
    if (this.#received - this.#counted < STEP_BYTES) return;
    this.#counted = this.#received;
    this.#memory.hold(this.#counted * MEMORY_FACTOR);
  }

  /** Releases all. */
  release(): void {
    this.#memory.hold(0);
  }
}
