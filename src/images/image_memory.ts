import { GatewayError } from "../lib/gateway_error.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";

/** Memory that is taken for each picture before a vendor is asked: most are smaller. */
const AHEAD_BYTES_PER_IMAGE = 8_000_000;
/** The part of what an account can hold that one request takes ahead at most. */
const MAX_AHEAD_SHARE = 1 / 4;
/** Bytes of memory that a byte of a vendor's reply costs: as it came, as text, and as values. */
const REPLY_MEMORY_FACTOR = 3;

/**
 * The memory of one request's pictures. Most of it is taken before a vendor is asked, because a picture that was made
 * and then has no room is paid for and lost.
 */
export class ImageMemory {
  #memory: MemoryLease;
  readonly #ahead: number;
  #heldBefore: number;
  #left = 0;

  /**
   * Takes the memory ahead.
   *
   * @param count How many pictures were ordered.
   * @throws {GatewayError} `overloaded`.
   */
  constructor(memory: MemoryLease, count: number) {
    this.#memory = memory;
    this.#ahead = Math.min(count * AHEAD_BYTES_PER_IMAGE, memory.budget.accountLimitBytes * MAX_AHEAD_SHARE);
    memory.reserve(this.#ahead);
    this.#heldBefore = memory.held;
  }

  /** Takes memory for a picture to look at, which stays for every attempt. Throws `overloaded`. */
  readonly reserveReference = (bytes: number): void => {
    this.#memory.reserve(bytes);
    this.#heldBefore = this.#memory.held;
  };

  /** To be called before each attempt: drops what the last one read. */
  beginAttempt(): void {
    this.#memory.releaseTo(this.#heldBefore);
    this.#left = this.#ahead;
  }

  /**
   * Moves the memory out of the request, for a stream: the vendor is read to its end after the caller has left.
   *
   * @returns Gives the memory back. Must be called once the stream has ended; may be called twice.
   */
  outliveRequest(): () => void {
    const memory = this.#memory = this.#memory.detach();
    return () => memory.end();
  }

  /** Takes memory for pieces of a vendor's reply. Throws `overloaded`. */
  readonly reserveReply = (bytes: number): void => this.#take(bytes * REPLY_MEMORY_FACTOR);

  /** Takes memory for a result that is fetched from an address. Throws `overloaded`. */
  readonly reserveResult = (bytes: number): void => this.#take(bytes);

  #take(bytes: number): void {
    const fromAhead = Math.min(bytes, this.#left);
    this.#left -= fromAhead;
    if (bytes > fromAhead) this.#memory.reserve(bytes - fromAhead);
  }
}

/** Whether work failed because there is no memory for it. */
export function isLackOfMemory(error: unknown): boolean {
  return error instanceof GatewayError && (error.code === "overloaded" || error.code === "request_too_large");
}
