import { concatBytes } from "./concat_bytes.ts";

const MIN_PIECE_BYTES = 256;
const MAX_PIECE_BYTES = 16_384;

/**
 * Collects copies of chunks of any size. Small ones share buffers, so that the memory is at most twice the bytes and a
 * little: a buffer of its own costs some 200 bytes.
 */
export class JoinedBytes {
  readonly #full: Uint8Array<ArrayBuffer>[] = [];
  /** The buffer that has room left. */
  #last: Uint8Array<ArrayBuffer> = new Uint8Array();
  #used = 0;
  #length = 0;

  /** The number of bytes. */
  get length(): number {
    return this.#length;
  }

  /** Appends a copy of a chunk. */
  add(chunk: Uint8Array): void {
    if (chunk.length > this.#last.length - this.#used) {
      if (this.#used > 0) this.#full.push(this.#last.subarray(0, this.#used));
      // A chunk alone gets a buffer of its length.
      const shared = this.#length === 0 ? 0 : Math.min(Math.max(this.#length, MIN_PIECE_BYTES), MAX_PIECE_BYTES);
      this.#last = new Uint8Array(Math.max(chunk.length, shared));
      this.#used = 0;
    }
    this.#last.set(chunk, this.#used);
    this.#used += chunk.length;
    this.#length += chunk.length;
  }

  /** What was collected, in as many buffers as it has. They must not be changed. */
  get pieces(): readonly Uint8Array<ArrayBuffer>[] {
    return this.#used === 0 ? this.#full : [...this.#full, this.#last.subarray(0, this.#used)];
  }

  /** What was collected, in one buffer. It must not be changed. */
  joined(): Uint8Array<ArrayBuffer> {
    const { pieces } = this;
    const [only] = pieces;
    return only !== undefined && pieces.length === 1 && only.length === only.buffer.byteLength
      ? only
      : concatBytes(pieces);
  }
}
