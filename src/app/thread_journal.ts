import type { ThreadJournalPlace } from "../isolates/messages.ts";
import { fileSink } from "../store/journal/file_sink.ts";
import { type Journal, type JournalSink, NO_SINK } from "../store/journal/journal.ts";
import { journalThread, threadSink } from "../store/journal/thread_sink.ts";

/** A sink in the folder of a journal of charges. */
export function sinkIn(folder: string, isPower: boolean): JournalSink {
  return isPower ? threadSink(journalThread(folder)) : fileSink(folder);
}

/** Opens the journal of an isolate, in its thread; null without a place. */
export function openThreadJournal(journal: Journal, place: ThreadJournalPlace | null): void {
  if (place === null) return journal.open(NO_SINK, 1);
  journal.open(sinkIn(place.folder, place.isPower), place.firstSegment, place.step);
}
