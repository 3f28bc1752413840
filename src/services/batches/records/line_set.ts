import { addLine, hasLine, noLines } from "./vendor_batch.ts";

/** Numbers of lines of a batch, a bit for each: many batches run simultaneously, and each may have 50,000. */
export class LineSet {
  readonly #lines: Uint8Array<ArrayBuffer>;

  /** @param total The lines of the batch. */
  constructor(total: number) {
    this.#lines = noLines(total);
  }

  /** The numbers as a set of bits. It must not be changed. */
  get bits(): Uint8Array {
    return this.#lines;
  }

  /** Whether a line is in it. */
  has(number: number): boolean {
    return hasLine(this.#lines, number);
  }

  /** Adds a line. */
  add(number: number): void {
    addLine(this.#lines, number);
  }

  /** The number of lines that it has of a set of bits. */
  countOf(lines: Uint8Array): number {
    let count = 0;
    for (const [index, bits] of this.#lines.entries()) count += bitsIn(bits & (lines[index] ?? 0));
    return count;
  }
}

function bitsIn(byte: number): number {
  let count = 0;
  for (let rest = byte; rest !== 0; rest &= rest - 1) count++;
  return count;
}
