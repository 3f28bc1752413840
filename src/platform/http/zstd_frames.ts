const MAGIC = 0xfd2fb528;
/** 16 values, of which the lowest four bits count. Source: RFC 8878, 3.1.2. */
const SKIPPABLE_MAGIC = 0x184d2a50;

/** The part of a frame that comes next. */
type Part = "magic" | "descriptor" | "header" | "block" | "checksum" | "skippable";

/**
 * Follows the frames of a zstd body without decoding them, and tells whether the body ends where a frame does.
 * Source: RFC 8878, 3.1.
 */
export class ZstdFrames {
  #part: Part = "magic";
  /** The bytes of the part that have arrived. */
  #bytes: number[] = [];
  /** The length of the part. */
  #needed = 4;
  /** Bytes of a block or a skippable frame that are still to come. */
  #skip = 0;
  #isLast = false;
  #hasChecksum = false;
  #frames = 0;

  /** @throws {RangeError} If the bytes do not start a frame where one must start. */
  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else {
        this.#bytes.push(chunk[at++] ?? 0);
      }
      // A part without bytes is passed at once: an empty block, or a frame without a checksum.
      while (this.#skip === 0 && this.#bytes.length === this.#needed) this.#next();
    }
  }

  /** @throws {RangeError} If no frame has ended here. */
  end(): void {
    const isAtBoundary = this.#part === "magic" && this.#bytes.length === 0 && this.#skip === 0 && this.#frames > 0;
    if (!isAtBoundary) throw new RangeError("The body ends within a frame");
  }

  #next(): void {
    const bytes = this.#bytes;
    const [first = 0] = bytes;
    this.#bytes = [];
    switch (this.#part) {
      case "magic":
        return this.#onMagic(littleEndian(bytes));
      case "descriptor":
        this.#hasChecksum = (first & 0b100) !== 0;
        return this.#expect("header", headerBytesOf(first));
      case "header":
        return this.#expect("block", 3);
      case "block":
        return this.#onBlock(littleEndian(bytes));
      case "skippable":
        this.#skip = littleEndian(bytes);
        return this.#endFrame();
      case "checksum":
        return this.#endFrame();
    }
  }

  #onMagic(magic: number): void {
    if (magic === MAGIC) return this.#expect("descriptor", 1);
    if ((magic & 0xfffffff0) >>> 0 !== SKIPPABLE_MAGIC) throw new RangeError("No frame starts here");
    this.#expect("skippable", 4);
  }

  /** Its header has a bit for the last block, two for the type and 21 for the size. Type 1 repeats one byte. */
  #onBlock(header: number): void {
    this.#isLast = (header & 1) === 1;
    this.#skip = (header >> 1 & 0b11) === 1 ? 1 : header >> 3;
    if (!this.#isLast) return this.#expect("block", 3);
    if (this.#hasChecksum) return this.#expect("checksum", 4);
    this.#endFrame();
  }

  #endFrame(): void {
    this.#frames++;
    this.#expect("magic", 4);
  }

  #expect(part: Part, bytes: number): void {
    this.#part = part;
    this.#needed = bytes;
  }
}

/** The length of a frame header after its descriptor. Source: RFC 8878, 3.1.1.1. */
function headerBytesOf(descriptor: number): number {
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const windowBytes = isSingleSegment ? 0 : 1;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 0b11] ?? 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return windowBytes + dictionaryBytes + sizeBytes;
}

function littleEndian(bytes: readonly number[]): number {
  return bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
}
