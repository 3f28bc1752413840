import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  checkedCounters,
  NO_USAGE,
  outputSideOf,
  readCounter,
  type Usage,
  withCounters,
  withRegion,
  withTier,
} from "../../../neutral/usage.ts";
import { isObject } from "../../../neutral/wire_value.ts";

/** The usage in a whole reply; null when it reports none. */
export function readUsage(body: unknown): Usage | null {
  return isObject(body) ? usageOf(body.usage) : null;
}

/**
 * Reads a `usage` object; null if it counts nothing. `iterations` lists every pass over the prompt, including passes
 * that the totals exclude (a compaction, an advisor), so the consumption is their sum. A pass with a model was made by
 * that model. When a fallback model took over, the abandoned pass is not charged: the totals apply, and belong to the
 * fallback model.
 */
export function usageOf(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  if (typeof usage.input_tokens !== "number" && typeof usage.output_tokens !== "number") return null;
  const calls = isObject(usage.server_tool_use) ? usage.server_tool_use : {};
  const counted = withCounters(tokensOf(usage), {
    webSearches: readCounter(calls.web_search_requests),
    webFetches: readCounter(calls.web_fetch_requests),
  });
  return withRegion(withTier(counted, tierOf(usage)), regionIn(usage));
}

/** The service tier. Fast mode is reported in its own field, and is the more expensive of the two. */
function tierOf({ service_tier, speed }: JsonObject): unknown {
  return speed === "fast" ? speed : service_tier;
}

/** The region that served; `not_available` stands for none. Source: Messages API reference, `usage.inference_geo`. */
function regionIn({ inference_geo }: JsonObject): unknown {
  return inference_geo === "not_available" ? null : inference_geo;
}

function tokensOf(usage: JsonObject): Usage {
  const total = countersOf(usage);
  const iterations = Array.isArray(usage.iterations) ? usage.iterations.filter(isObject) : [];
  const successor = iterations.findLast(({ type }) => type === "fallback_message");
  if (successor) return withOthers(total, successor.model === undefined ? [] : [{ ...usage, model: successor.model }]);
  const sum = iterations.map(countersOf).reduce(plus, { ...NO_USAGE });
  if (iterations.length === 0 || totalOf(sum) < totalOf(total)) return total;
  return withOthers({ ...sum, reasoningTokens: total.reasoningTokens }, iterations);
}

/** The usage, with the passes of named models as parts. */
function withOthers(usage: Usage, iterations: readonly JsonObject[]): Usage {
  const otherModels = iterations.flatMap((iteration) =>
    typeof iteration.model === "string" ? [{ model: iteration.model, usage: countersOf(iteration) }] : []
  );
  return otherModels.length === 0 ? usage : { ...usage, otherModels };
}

function countersOf(usage: JsonObject): Usage {
  const written = readCounter(usage.cache_creation_input_tokens);
  const parts = isObject(usage.cache_creation) ? usage.cache_creation : {};
  const writtenFor1h = readCounter(parts.ephemeral_1h_input_tokens);
  const writtenFor5m = readCounter(parts.ephemeral_5m_input_tokens);
  // In a stream the total is more recent; the parts count only when a vendor reports no total.
  const all = written > 0 ? written : writtenFor1h + writtenFor5m;
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const read = {
    ...NO_USAGE,
    freshTokens: readCounter(usage.input_tokens),
    cacheReadTokens: readCounter(usage.cache_read_input_tokens),
    cacheWrite5mTokens: all - Math.min(all, writtenFor1h),
    cacheWrite1hTokens: Math.min(all, writtenFor1h),
    // Documented as part of the output, which has no total beside it.
    ...outputSideOf(readCounter(usage.output_tokens), readCounter(details.thinking_tokens), true),
  };
  return checkedCounters(read, [
    usage.input_tokens,
    usage.output_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation_input_tokens,
    parts.ephemeral_1h_input_tokens,
    parts.ephemeral_5m_input_tokens,
    details.thinking_tokens,
  ]);
}

function plus(a: Usage, b: Usage): Usage {
  return {
    freshTokens: a.freshTokens + b.freshTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWrite5mTokens: a.cacheWrite5mTokens + b.cacheWrite5mTokens,
    cacheWrite1hTokens: a.cacheWrite1hTokens + b.cacheWrite1hTokens,
    toolPromptTokens: 0,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...a.isUnreadable || b.isUnreadable ? { isUnreadable: true } : {},
  };
}

function totalOf(usage: Usage): number {
  return usage.freshTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens +
    usage.outputTokens;
}

/** Source: Messages API reference, "Usage". */
const TIERS = ["standard", "priority", "batch"] as const;

/** The inverse of {@linkcode usageOf}; zeros when unknown, because clients add the counters up. */
export function writeUsage(usage: Usage | null): JsonObject {
  const { freshTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, toolPromptTokens, ...output } = usage ??
    NO_USAGE;
  return {
    input_tokens: freshTokens + toolPromptTokens,
    cache_creation_input_tokens: cacheWrite5mTokens + cacheWrite1hTokens,
    cache_read_input_tokens: cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite5mTokens,
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: output.outputTokens,
    // Clients require both, also where they are unknown.
    inference_geo: output.region ?? null,
    service_tier: TIERS.find((tier) => tier === output.serviceTier) ?? null,
    ...writeToolCalls(output),
    ...(output.reasoningTokens > 0 ? { output_tokens_details: { thinking_tokens: output.reasoningTokens } } : {}),
  };
}

function writeToolCalls({ webSearches = 0, webFetches = 0 }: Pick<Usage, "webSearches" | "webFetches">): JsonObject {
  if (webSearches + webFetches === 0) return {};
  return {
    server_tool_use: {
      web_search_requests: webSearches,
      ...webFetches > 0 && { web_fetch_requests: webFetches },
    },
  };
}

/**
 * Merges a later report into an earlier one. Counters are running totals, so null, or a zero after a count, is ignored.
 */
export function laterUsage(earlier: JsonObject, later: unknown): JsonObject {
  if (!isObject(later)) return earlier;
  const reported = Object.entries(later).filter(([name, value]) =>
    value !== null && value !== undefined && !(value === 0 && readCounter(earlier[name]) > 0)
  );
  return { ...earlier, ...Object.fromEntries(reported) };
}
