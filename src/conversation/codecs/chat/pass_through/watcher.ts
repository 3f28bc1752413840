import type { StreamWatcher } from "../../../pass_through.ts";
import { failureReportedIn } from "../../../reported_failure.ts";
import { laterReport, type Usage, withAtLeast } from "../../../usage.ts";
import { isObject, listOf, objectOf, parsedOrNull } from "../../../wire_value.ts";
import { noteExtras, readUsage } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/**
 * One pass over the text. Inside of JSON text a quote is escaped, so these match keys and whole words alone. Only a
 * value that says nothing is told by its spelling, as every chunk has some; any other is looked at.
 */
const CONCERNS = /"(?:usage|finish_reason)"(?!\s*:\s*null)|"url_citation"|"images"(?!\s*:\s*(?:null|\[\s*\]))|\[DONE\]/;

/**
 * Follows a stream that passes through. Beside `[DONE]` a finish reason counts as the end, as some vendors send no
 * other mark; only `[DONE]` is final, as usage follows the reason. The usage that comes last holds, unless it counts
 * nothing: some vendors send running totals.
 */
export function watcher(wantsUsage: boolean): StreamWatcher {
  let usage: Usage | null = null;
  let ended = false;
  let isFinal = false;
  const extras = { webSearches: 0, imagesMade: 0 };
  return {
    concerns: (text) => CONCERNS.test(text),
    follow(data) {
      if (data.startsWith("[DONE]")) {
        ended = isFinal = true;
        return;
      }
      const chunk = objectOf(parsedOrNull(data));
      usage = laterReport(usage, readUsage(chunk));
      noteExtras(extras, chunk);
      ended ||= listOf(chunk?.choices).some((choice) => typeof objectOf(choice)?.finish_reason === "string");
    },
    usage: () => withAtLeast(usage, extras),
    ended: () => ended,
    isFinal: () => isFinal,
    isHidden: (data) => !wantsUsage && isUsageChunk(data),
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}

/** The chunk by which the format reports usage: no choices, and usage that is not null. */
function isUsageChunk(data: string): boolean {
  if (!data.includes('"usage"')) return false;
  const chunk = objectOf(parsedOrNull(data));
  return Array.isArray(chunk?.choices) && chunk.choices.length === 0 && isObject(chunk.usage);
}
