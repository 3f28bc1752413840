import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";

/** The memory reserved for each picture before a vendor is called; most are smaller. */
const AHEAD_BYTES_PER_IMAGE = 8_000_000;
/** The maximum share of an account's limit that one request reserves in advance. */
const MAX_AHEAD_SHARE = 1 / 4;
/** The memory per byte of a vendor's reply: as received, as text, and as values. */
const REPLY_MEMORY_FACTOR = 3;

/**
 * The memory of one request's pictures. Most of it is reserved before a vendor is called, because a picture that is
 * made and does not fit is paid for and lost.
 */
export class ImageMemory {
  #memory: HeldMemory;
  readonly #ahead: number;
  #heldBefore: number;
  #left = 0;

  /**
   * Reserves the memory.
   *
   * @param count The number of ordered pictures.
   * @throws {GatewayError} `overloaded`.
   */
  constructor(memory: HeldMemory, count: number) {
    this.#memory = memory;
    this.#ahead = Math.min(count * AHEAD_BYTES_PER_IMAGE, memory.budget.accountLimitBytes * MAX_AHEAD_SHARE);
    memory.reserve(this.#ahead);
    this.#heldBefore = memory.held;
  }

  /** Reserves memory for an input picture, kept for all attempts. Throws `overloaded`. */
  readonly reserveReference = (bytes: number): void => {
    this.#memory.reserve(bytes);
    this.#heldBefore = this.#memory.held;
  };

  /** Call before each attempt: releases the memory of the previous one. */
  beginAttempt(): void {
    this.#memory.releaseTo(this.#heldBefore);
    this.#left = this.#ahead;
  }

  /**
   * Moves the memory out of the request, for a stream: the vendor's response is read to its end after the caller has
   * disconnected.
   *
   * @returns A function that releases the memory. Must be called once the stream has ended; may be called twice.
   */
  outliveRequest(): () => void {
    const memory = this.#memory = this.#memory.detach();
    return () => memory.end();
  }

  /** A lease of the same account, for what else a stream holds. */
  fork(): HeldMemory {
    return this.#memory.fork();
  }

  /** Reserves memory for chunks of a vendor's reply. Throws `overloaded`. */
  readonly reserveReply = (bytes: number): void => this.#take(bytes * REPLY_MEMORY_FACTOR);

  /** Reserves memory for a picture that is downloaded. Throws `overloaded`. */
  readonly reserveResult = (bytes: number): void => this.#take(bytes);

  #take(bytes: number): void {
    const fromAhead = Math.min(bytes, this.#left);
    this.#left -= fromAhead;
    if (bytes > fromAhead) this.#memory.reserve(bytes - fromAhead);
  }
}

/** Whether the failure is a lack of memory. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof GatewayError && (error.code === "overloaded" || error.code === "request_too_large");
}
