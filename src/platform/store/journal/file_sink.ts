import type { JournalSink } from "./journal.ts";
import { removeSegment } from "./journal_folder.ts";
import { SegmentWriter } from "./segment_writer.ts";

/**
 * A sink that appends in the calling thread. What is appended survives the end of the process at once, and a power
 * failure once the system has written it to the disk.
 *
 * @param folder An existing folder.
 */
export function fileSink(folder: string): JournalSink {
  const writer = new SegmentWriter(folder);
  const removals = new Set<Promise<void>>();
  return {
    append: (segment, bytes) => writer.append(segment, bytes),
    remove(segment) {
      writer.closeSegment(segment);
      const removal = removeSegment(folder, segment).catch(() => {}).finally(() => removals.delete(removal));
      removals.add(removal);
    },
    async close() {
      writer.close();
      await Promise.all(removals);
    },
  };
}
