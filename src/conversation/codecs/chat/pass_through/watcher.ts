import { WordSearch } from "../../../../platform/lib/text/word_search.ts";
import { readModelName } from "../../../models/answering_models.ts";
import type { StreamWatcher } from "../../../contract/pass_through.ts";
import { failureReportedIn } from "../../../parts/reply/reported_failure.ts";
import { laterReport, type Usage, withAtLeast, withImageTokens } from "../../../neutral/usage.ts";
import { isObject, listOf, objectOf, parsedOrNull } from "../../../neutral/wire_value.ts";
import { finishReasonIn } from "../shared/stop.ts";
import { noteExtras, readUsage } from "../shared/usage.ts";
import { eventReader } from "../upstream/event_reader.ts";

/**
 * Matches in one pass over the text. Quotes within JSON strings are escaped, so only keys and whole strings match. Null
 * and empty values are excluded by their spelling, because every chunk has some; any other value is parsed.
 */
const RELEVANT = new WordSearch(
  /"(?:usage|finish_reason)"(?!\s*:\s*(?:null|""))|"url_citation"|"images"(?!\s*:\s*(?:null|\[\s*\]))|\[DONE\]/,
  ['"usage"', '"finish_reason"', '"url_citation"', '"images"', "[DONE]"],
);

const USAGE = /"usage"\s*:\s*\{/;

/**
 * Observes a stream that passes through. A finish reason counts as the end, like `[DONE]`, because some vendors send no
 * `[DONE]`; only `[DONE]` is final, because usage follows the finish reason. The last usage applies, unless it counts
 * nothing, because some vendors send running totals.
 */
export function watcher(wantsUsage: boolean): StreamWatcher {
  let usage: Usage | null = null;
  let isEnded = false;
  let isFinal = false;
  let model: string | null = null;
  const extras = { webSearches: 0, imagesMade: 0 };
  return {
    isRelevant: (text) => RELEVANT.test(text),
    observe(data) {
      if (data.startsWith("[DONE]")) {
        isEnded = isFinal = true;
        return;
      }
      const chunk = objectOf(parsedOrNull(data));
      model = readModelName(chunk?.model) ?? model;
      usage = laterReport(usage, readUsage(chunk));
      noteExtras(extras, chunk);
      isEnded ||= listOf(chunk?.choices).some((choice) => finishReasonIn(objectOf(choice) ?? {}) !== null);
    },
    usage: () => withImageTokens(withAtLeast(usage, extras)),
    model: () => model,
    isComplete: () => isEnded,
    isFinal: () => isFinal,
    mayEndUsage: (data) => wantsUsage && isEnded && USAGE.test(data),
    isHidden: (data) => !wantsUsage && isUsageChunk(data),
    failureIn: (data) => failureReportedIn(eventReader(), data),
  };
}

/** The chunk that reports usage: no choices, and a `usage` object. */
function isUsageChunk(data: string): boolean {
  if (!data.includes('"usage"')) return false;
  const chunk = objectOf(parsedOrNull(data));
  return Array.isArray(chunk?.choices) && chunk.choices.length === 0 && isObject(chunk.usage);
}
