import type { ThreadJournalPlace } from "../isolates/messages.ts";
import { type Journal, NO_SINK } from "../store/journal/journal.ts";
import { sinkIn } from "../store/journal/thread_sink.ts";

/** Opens the journal of an isolate, in its thread; null without a place. */
export function openThreadJournal(journal: Journal, place: ThreadJournalPlace | null): void {
  if (place === null) return journal.open(NO_SINK, 1);
  journal.open(sinkIn(place.folder, place.isPower), place.firstSegment, place.step);
}
