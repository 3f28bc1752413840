/** Bytes that are collected while they come. */
export interface GrowingBytesOptions {
  /** How many will come; null when that is not known. More may come all the same. */
  readonly expectedBytes: number | null;
  /** Called before bytes are taken in: with the expected number at once, else in steps. Throws to refuse them. */
  readonly reserve?: (bytes: number) => void;
}

/** Steps in which the room for a body of unknown length is reserved. */
const MIN_STEP_BYTES = 65_536;
const MAX_STEP_BYTES = 1_048_576;

/**
 * Collects pieces in one buffer, so that a body of known length is never held twice. A buffer that is dropped is freed
 * at once: the platform frees the pieces of an idle process only at its next collection of garbage, which may never
 * come.
 */
export class GrowingBytes {
  #buffer: Uint8Array<ArrayBuffer>;
  #length = 0;
  #reserved: number;
  readonly #reserve: (bytes: number) => void;

  /** Throws what `reserve` throws. */
  constructor({ expectedBytes, reserve = () => {} }: GrowingBytesOptions) {
    this.#reserved = expectedBytes ?? MIN_STEP_BYTES;
    this.#reserve = reserve;
    reserve(this.#reserved);
    this.#buffer = new Uint8Array(this.#reserved);
  }

  /** How many came so far. */
  get length(): number {
    return this.#length;
  }

  /** Copies a piece. Throws what `reserve` throws. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    this.#reserveUpTo(length);
    if (length > this.#buffer.length) this.#resize(Math.max(length, this.#buffer.length * 2));
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /** The bytes, in memory of their own. The collection is over. */
  finish(): Uint8Array<ArrayBuffer> {
    if (this.#length < this.#buffer.length) this.#resize(this.#length);
    return this.#buffer;
  }

  /** Frees the memory. */
  drop(): void {
    this.#length = 0;
    this.#resize(0);
  }

  #reserveUpTo(length: number): void {
    if (length <= this.#reserved) return;
    const step = Math.min(Math.max(this.#reserved, MIN_STEP_BYTES), MAX_STEP_BYTES);
    const more = Math.max(length - this.#reserved, step);
    this.#reserve(more);
    this.#reserved += more;
  }

  #resize(bytes: number): void {
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(bytes));
  }
}
