/** Options of {@linkcode GrowingBytes}. */
export interface GrowingBytesOptions {
  /** The expected number of bytes; null if unknown. More bytes are accepted. */
  readonly expectedBytes: number | null;
  /** Called before bytes are buffered: once with the expected number, then in steps. It throws to reject them. */
  readonly reserve?: (bytes: number) => void;
}

/** The steps in which memory for a body of unknown length is reserved. */
const MIN_STEP_BYTES = 65_536;
const MAX_STEP_BYTES = 1_048_576;

/**
 * Collects chunks in one buffer, so that a body of known length is never held twice. A dropped buffer is freed at once.
 * Separate chunks in an idle process are freed only at the next garbage collection, which may never happen.
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

  /** The number of bytes collected so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends a copy of a chunk. Throws what `reserve` throws. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    this.#reserveUpTo(length);
    if (length > this.#buffer.length) this.#resize(Math.max(length, this.#buffer.length * 2));
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /** Returns the collected bytes in a buffer of their own. Nothing can be added afterwards. */
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
