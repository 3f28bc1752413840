import { segmentPathOf, syncFolder } from "./journal_folder.ts";
import { SegmentWriter } from "./segment_writer.ts";
import type { JournalDone, JournalTask } from "./thread_sink.ts";

/** Runs the tasks of a journal inside its thread. */
export class JournalTaskRunner {
  readonly #writer: SegmentWriter;
  #lastSegment = 0;

  /** @param folder An existing folder. */
  constructor(private readonly folder: string) {
    this.#writer = new SegmentWriter(folder);
  }

  /** Writes and syncs the parts of a task. Never throws: a failure is returned. */
  run({ parts }: JournalTask): JournalDone {
    let failure: string | null = null;
    for (const { segment, bytes } of parts) {
      if (bytes === null) this.#remove(segment);
      else failure ??= this.#write(segment, new Uint8Array(bytes));
    }
    return { failure: failure ?? this.#sync() };
  }

  #write(segment: number, bytes: Uint8Array): string | null {
    try {
      // Another segment must not be opened before the one before it is synced.
      if (segment !== this.#lastSegment) this.#writer.sync();
      this.#writer.append(segment, bytes);
      if (segment !== this.#lastSegment) syncFolder(this.folder);
      this.#lastSegment = segment;
      return null;
    } catch (error) {
      return String(error);
    }
  }

  #sync(): string | null {
    try {
      this.#writer.sync();
      return null;
    } catch (error) {
      return String(error);
    }
  }

  #remove(segment: number): void {
    try {
      this.#writer.closeSegment(segment);
      Deno.removeSync(segmentPathOf(this.folder, segment));
    } catch { /* the records are found in the store when they are replayed */ }
  }
}
