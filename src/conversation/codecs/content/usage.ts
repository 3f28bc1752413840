import type { JsonObject, UsageFollower } from "../../codec.ts";
import { checkedCounters, laterReport, promptTokensOf, readCounter, type Usage } from "../../usage.ts";
import { isObject, parsedOrNull, textOrNull } from "../../wire_value.ts";
import { objectsIn } from "./fields.ts";

const COUNTERS = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
];

/**
 * The usage that a reply, or one chunk of a stream, reports: `promptTokenCount` includes what came from a cache, while
 * `candidatesTokenCount` leaves out thoughts. Null when no counter is there.
 */
export function readUsage(body: unknown): Usage | null {
  const usage = isObject(body) ? body.usageMetadata : null;
  if (!isObject(usage) || !COUNTERS.some((name) => name in usage)) return null;
  const cached = readCounter(usage.cachedContentTokenCount);
  const thoughts = readCounter(usage.thoughtsTokenCount);
  const pictures = pictureTokensIn(usage.candidatesTokensDetails);
  const read = {
    freshTokens: Math.max(0, readCounter(usage.promptTokenCount) - cached),
    cacheReadTokens: cached,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
    toolPromptTokens: readCounter(usage.toolUsePromptTokenCount),
    outputTokens: readCounter(usage.candidatesTokenCount) + thoughts,
    reasoningTokens: thoughts,
    ...pictures > 0 ? { imageOutputTokens: pictures } : {},
  };
  return checkedCounters(read, COUNTERS.map((name) => usage[name]));
}

/** A report of nothing, which no request can consume: it must not replace an earlier one. */
const COUNTS_NOTHING = /"promptTokenCount"\s*:\s*0\s*[,}]/;

/** What pictures took of the output. Source: Gemini API reference, "UsageMetadata", `candidatesTokensDetails`. */
function pictureTokensIn(details: unknown): number {
  return objectsIn(details).reduce(
    (sum, { modality, tokenCount }) => modality === "IMAGE" ? sum + readCounter(tokenCount) : sum,
    0,
  );
}

/** `usageMetadata`; what was written to a cache counts as prompt, as this form has no word for it. */
export function writeUsage(usage: Usage): JsonObject {
  const thoughts = Math.min(usage.reasoningTokens, usage.outputTokens);
  const written: JsonObject = {
    promptTokenCount: promptTokensOf(usage) - usage.toolPromptTokens,
    candidatesTokenCount: usage.outputTokens - thoughts,
    totalTokenCount: promptTokensOf(usage) + usage.outputTokens,
  };
  // Counters of nothing are left out, as the vendor does.
  if (usage.cacheReadTokens > 0) written.cachedContentTokenCount = usage.cacheReadTokens;
  if (thoughts > 0) written.thoughtsTokenCount = thoughts;
  if (usage.toolPromptTokens > 0) written.toolUsePromptTokenCount = usage.toolPromptTokens;
  return written;
}

/**
 * Follows a stream's usage. Every chunk carries the running totals, so a chunk is kept as text and only the last one is
 * parsed; the chunk with the finish reason is parsed at once, as it may be the end.
 */
export function usageFollower(): UsageFollower {
  let known: Usage | null = null;
  let unread: string | null = null;
  let hasEnded = false;
  function settle(): void {
    if (unread === null) return;
    known = laterReport(known, readUsage(parsedOrNull(unread)));
    unread = null;
  }
  return {
    // Inside of JSON text a quote is escaped, so these match keys alone.
    concerns: (data) => data.includes('TokenCount"') || endsReply(data),
    follow(data) {
      if (!endsReply(data)) {
        if (unread === null || !COUNTS_NOTHING.test(data)) unread = data;
        return;
      }
      settle();
      const body = parsedOrNull(data);
      known = laterReport(known, readUsage(body));
      hasEnded ||= isEnd(body);
    },
    usage() {
      settle();
      return known;
    },
    ended: () => hasEnded,
  };
}

function endsReply(data: string): boolean {
  return data.includes('"finishReason"') || data.includes('"blockReason"');
}

function isEnd(body: unknown): boolean {
  if (!isObject(body)) return false;
  if (isObject(body.promptFeedback) && textOrNull(body.promptFeedback.blockReason) !== null) return true;
  const reason = textOrNull(objectsIn(body.candidates)[0]?.finishReason);
  return reason !== null && reason !== "FINISH_REASON_UNSPECIFIED";
}
