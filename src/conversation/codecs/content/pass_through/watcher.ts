import type { StreamWatcher } from "../../../pass_through.ts";
import { failureReportedIn } from "../../../reported_failure.ts";
import { laterReport, type Usage, withAtLeast } from "../../../usage.ts";
import { isObject, parsedOrNull, textOrNull } from "../../../wire_value.ts";
import { objectsIn } from "../shared/fields.ts";
import { COUNTS_NOTHING, extrasOf, newShown, noteShown, readUsage } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/**
 * Follows a stream's usage. Every chunk carries the running totals, so a chunk is kept as text and only the last one is
 * parsed; the chunk with the finish reason is parsed at once, as it may be the end.
 */
export function watcher(): StreamWatcher {
  let known: Usage | null = null;
  let unread: string | null = null;
  let hasEnded = false;
  const shown = newShown();
  function settle(): void {
    if (unread === null) return;
    known = laterReport(known, readUsage(parsedOrNull(unread)));
    unread = null;
  }
  function usage(): Usage | null {
    settle();
    return withAtLeast(known, extrasOf(shown));
  }
  return {
    // Inside of JSON text a quote is escaped, so these match keys alone.
    concerns: (text) => text.includes('TokenCount"') || AT_ONCE.test(text),
    follow(data) {
      if (!AT_ONCE.test(data)) {
        if (unread === null || !COUNTS_NOTHING.test(data)) unread = data;
        return;
      }
      settle();
      const body = parsedOrNull(data);
      known = laterReport(known, readUsage(body));
      noteShown(shown, body);
      hasEnded ||= isEnd(body);
    },
    usage,
    ended: () => hasEnded,
    // The last chunk has usage; where the chunk with the reason had none, another one follows.
    isFinal: () => hasEnded && usage() !== null,
    isHidden: () => false,
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}

/** Keys of chunks that are read as they come: they may be the end, or show what their usage does not count. */
const AT_ONCE = /"(?:finishReason|blockReason|groundingMetadata|inlineData)"/;

function isEnd(body: unknown): boolean {
  if (!isObject(body)) return false;
  if (isObject(body.promptFeedback) && textOrNull(body.promptFeedback.blockReason) !== null) return true;
  const reason = textOrNull(objectsIn(body.candidates)[0]?.finishReason);
  return reason !== null && reason !== "FINISH_REASON_UNSPECIFIED";
}
