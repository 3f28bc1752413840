import { PRIVATE_FILE_MODE } from "../../lib/process/private_path.ts";
import { segmentPathOf } from "./journal_folder.ts";

/** Appends to the segments of a journal, one open at a time, with calls that block. */
export class SegmentWriter {
  #file: Deno.FsFile | null = null;
  #segment = 0;

  /** @param folder An existing folder. */
  constructor(private readonly folder: string) {}

  /**
   * Appends bytes to a segment, which is created when it is missing. The bytes are in the system's memory when this
   * returns, so they survive the end of the process.
   *
   * @throws {Error} The error of the system. A part of the bytes may be written then.
   */
  append(segment: number, bytes: Uint8Array): void {
    const file = this.#fileOf(segment);
    let written = file.writeSync(bytes);
    while (written < bytes.length) {
      const count = file.writeSync(bytes.subarray(written));
      if (count === 0) throw new Error("The file takes no more bytes");
      written += count;
    }
  }

  /**
   * Makes all appends durable.
   *
   * @throws {Error} The error of the system.
   */
  sync(): void {
    this.#file?.syncDataSync();
  }

  /** Closes the open segment. */
  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /** Closes a segment if it is open. */
  closeSegment(segment: number): void {
    if (this.#segment === segment) this.close();
  }

  #fileOf(segment: number): Deno.FsFile {
    if (this.#file !== null && this.#segment === segment) return this.#file;
    this.close();
    const path = segmentPathOf(this.folder, segment);
    this.#file = Deno.openSync(path, { append: true, create: true, mode: PRIVATE_FILE_MODE });
    this.#segment = segment;
    return this.#file;
  }
}
