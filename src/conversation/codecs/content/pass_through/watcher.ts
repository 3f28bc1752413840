import { WordSearch } from "../../../../platform/lib/text/word_search.ts";
import { readModelName } from "../../../models/answering_models.ts";
import type { StreamWatcher } from "../../../contract/pass_through.ts";
import { failureReportedIn } from "../../../parts/reply/reported_failure.ts";
import { laterReport, type Usage, withAtLeast, withImageTokens } from "../../../neutral/usage.ts";
import { isObject, objectOf, parsedOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import { objectsIn } from "../shared/fields.ts";
import { COUNTS_NOTHING, extrasOf, newShown, noteShown, readUsage } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/**
 * Observes the usage of a stream. Every chunk has running totals, so only the last chunk is parsed, at the end. The
 * chunk with the finish reason is parsed at once, because it may be the last.
 */
export function watcher(): StreamWatcher {
  let known: Usage | null = null;
  let unparsed: string | null = null;
  let isEnded = false;
  let model: string | null = null;
  const shown = newShown();
  function read(body: unknown): void {
    known = laterReport(known, readUsage(body));
    model = readModelName(objectOf(body)?.modelVersion) ?? model;
  }
  function parseLast(): void {
    if (unparsed === null) return;
    read(parsedOrNull(unparsed));
    unparsed = null;
  }
  function usage(): Usage | null {
    parseLast();
    return withImageTokens(withAtLeast(known, extrasOf(shown)));
  }
  return {
    // Quotes within JSON strings are escaped, so these match only keys.
    isRelevant: (text) => text.includes('TokenCount"') || PARSED_AT_ONCE.test(text),
    observe(data) {
      if (!PARSED_AT_ONCE.test(data)) {
        if (unparsed === null || !COUNTS_NOTHING.test(data)) unparsed = data;
        return;
      }
      parseLast();
      const body = parsedOrNull(data);
      read(body);
      noteShown(shown, body);
      isEnded ||= isEnd(body);
    },
    usage,
    model() {
      parseLast();
      return model;
    },
    isComplete: () => isEnded,
    // The last chunk has usage; if the chunk with the finish reason has none, another chunk follows.
    isFinal: () => isEnded && usage() !== null,
    mayEndUsage: (data) => isEnded && data.includes('"usageMetadata"'),
    isHidden: () => false,
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}

/** Keys of chunks that are parsed at once: the end, and content that the usage does not count. */
const PARSED_AT_ONCE = new WordSearch(
  /"(?:finishReason|blockReason|groundingMetadata|inlineData)"/,
  ['"finishReason"', '"blockReason"', '"groundingMetadata"', '"inlineData"'],
);

function isEnd(body: unknown): boolean {
  if (!isObject(body)) return false;
  if (isObject(body.promptFeedback) && textOrNull(body.promptFeedback.blockReason) !== null) return true;
  const reason = textOrNull(objectsIn(body.candidates)[0]?.finishReason);
  return reason !== null && reason !== "FINISH_REASON_UNSPECIFIED";
}
