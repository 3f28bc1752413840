import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { FrameMemory } from "./frame_memory.ts";

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
