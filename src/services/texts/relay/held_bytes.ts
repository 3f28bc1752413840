import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";

/**
 * The bytes of a stream that have been read and not sent, so that a frame of several reads is sent without encoding its
 * text. Encoding four megabytes takes longer than everything else that is done with them.
 */
export class HeldBytes {
  #parts: Uint8Array<ArrayBuffer>[] = [];

  /**
   * Adds a read, and removes and returns the first bytes; null for none.
   *
   * @param length At most as many as are held with the read.
   */
  takeWith(read: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> | null {
    // Most reads are whole frames.
    if (this.#parts.length === 0 && length === read.length) return read;
    this.#parts.push(read);
    return length === 0 ? null : this.#take(length);
  }

  #take(length: number): Uint8Array<ArrayBuffer> {
    const taken: Uint8Array<ArrayBuffer>[] = [];
    let missing = length;
    while (missing > 0) {
      const part = this.#parts.shift()!;
      if (part.length > missing) this.#parts.unshift(part.subarray(missing));
      taken.push(part.subarray(0, missing));
      missing -= taken.at(-1)!.length;
    }
    const [only] = taken;
    return taken.length === 1 && only !== undefined ? only : concatBytes(taken);
  }
}
