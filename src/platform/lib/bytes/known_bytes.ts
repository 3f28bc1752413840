import { Buffer } from "node:buffer";

/** Bytes that were seen before, the least recently seen first. They are compared, so equal bytes are never mistaken. */
export class KnownBytes {
  readonly #maxBytes: number;
  /** One for each length: of several with one length the last is kept. */
  readonly #known = new Map<number, Uint8Array>();
  #bytes = 0;

  /** @param maxBytes How much is kept in all. A quarter of it is the most for one. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether equal bytes were added, and are still kept. */
  has(bytes: Uint8Array): boolean {
    const known = this.#known.get(bytes.length);
    if (known === undefined || Buffer.compare(known, bytes) !== 0) return false;
    this.#known.delete(bytes.length);
    this.#known.set(bytes.length, known);
    return true;
  }

  /** Keeps a copy. */
  add(bytes: Uint8Array): void {
    const { length } = bytes;
    if (length > this.#maxBytes / 4) return;
    this.#remove(length);
    this.#known.set(length, bytes.slice());
    this.#bytes += length;
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(length: number): void {
    if (this.#known.delete(length)) this.#bytes -= length;
  }
}
