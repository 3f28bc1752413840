import { PRIVATE_FILE_MODE } from "../../lib/process/private_path.ts";
import { listSegments, segmentPathOf } from "../journal/journal_folder.ts";

const MAX_ATTEMPTS = 50;

/**
 * Copies a journal for a snapshot of its store. The segments are opened before the instant of the snapshot and read
 * after it: a segment that is removed in between stays readable, and has its charges in the store.
 */
export class JournalCopy {
  readonly #folder: string;
  readonly #open = new Map<number, Deno.FsFile>();
  #attempts = 0;

  /** @param folder May be missing. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens the segments that exist now. */
  async openSegments(): Promise<void> {
    this.close();
    for (const segment of await listSegments(this.#folder)) await this.#openSegment(segment);
  }

  /**
   * Whether the segments are those of the instant: no charge of the time before it is in another segment. Opens them
   * again if they are not. Under a load that replaces segments without a pause, those of the last attempt are taken:
   * they have every charge from before the copy began.
   */
  async coversInstant(): Promise<boolean> {
    const now = await listSegments(this.#folder);
    if (now.length === this.#open.size && now.every((segment) => this.#open.has(segment))) return true;
    if (++this.#attempts === MAX_ATTEMPTS) {
      for (const segment of now) if (!this.#open.has(segment)) await this.#openSegment(segment);
      return true;
    }
    await this.openSegments();
    return false;
  }

  /** Writes the segments to an empty folder. */
  async writeTo(folder: string): Promise<void> {
    for (const [segment, file] of this.#open) {
      const copy = await Deno.open(segmentPathOf(folder, segment), {
        write: true,
        createNew: true,
        mode: PRIVATE_FILE_MODE,
      });
      await file.readable.pipeTo(copy.writable); // closes both
    }
    this.#open.clear();
  }

  /** Closes the segments that were not written. */
  close(): void {
    for (const file of this.#open.values()) file.close();
    this.#open.clear();
  }

  async #openSegment(segment: number): Promise<void> {
    try {
      this.#open.set(segment, await Deno.open(segmentPathOf(this.#folder, segment), { read: true }));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // it is removed: its charges are in the store
    }
  }
}
