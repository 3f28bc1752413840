import { concatBytes } from "./concat_bytes.ts";

/** Bytes in several buffers, such as an edited text whose long unchanged ranges are not copied. */
export class ByteParts {
  /** The number of bytes. */
  readonly length: number;

  /**
   * Creates the concatenation without copying.
   *
   * @param parts Must not change afterwards.
   */
  constructor(readonly parts: readonly Uint8Array<ArrayBuffer>[]) {
    let length = 0;
    for (const part of parts) length += part.length;
    this.length = length;
  }

  /** Returns all bytes in one buffer, which is the original one if there is only one part. */
  joined(): Uint8Array<ArrayBuffer> {
    const [only] = this.parts;
    return only !== undefined && this.parts.length === 1 ? only : concatBytes(this.parts);
  }
}
