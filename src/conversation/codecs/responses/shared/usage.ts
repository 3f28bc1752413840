import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  checkedCounters,
  type ContentCounters,
  lifetimesIn,
  mediumTokensOf,
  outputSideOf,
  promptTokensOf,
  readCounter,
  type Usage,
  withAtLeast,
  withCounters,
  withTier,
} from "../../../neutral/usage.ts";
import { isObject } from "../../../neutral/wire_value.ts";

/**
 * The usage of a response object. `input_tokens` includes cached tokens and cache writes, `output_tokens` includes
 * reasoning. If a vendor's total exceeds the sum by the reasoning tokens, it excluded them from the output; they are
 * added.
 * Source: Responses API reference, "ResponseUsage".
 */
export function readUsage(body: unknown): Usage | null {
  if (!isObject(body) || !isObject(body.usage)) return null;
  const usage = body.usage;
  const inputDetails = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const outputDetails = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const prompt = readCounter(usage.input_tokens);
  const read = Math.min(readCounter(inputDetails.cached_tokens), prompt);
  const written = Math.min(readCounter(inputDetails.cache_write_tokens), prompt - read);
  const output = readCounter(usage.output_tokens);
  const reasoning = readCounter(outputDetails.reasoning_tokens);
  const missing = readCounter(usage.total_tokens) - prompt - output;
  const isInside = readCounter(usage.total_tokens) > 0 && missing >= 0;
  const tokens: Usage = {
    freshTokens: prompt - read - written,
    cacheReadTokens: read,
    cacheWrite5mTokens: written,
    cacheWrite1hTokens: 0,
    toolPromptTokens: 0,
    ...outputSideOf(missing > 0 && missing === reasoning ? output + missing : output, reasoning, isInside),
  };
  const medium = (name: string) => mediumTokensOf(readCounter(inputDetails[name]), null, tokens);
  const [audio, image] = [medium("audio_tokens"), medium("image_tokens")];
  const counters = {
    audioInputTokens: audio.fresh,
    audioCacheReadTokens: audio.cached,
    imageInputTokens: image.fresh,
    imageCacheReadTokens: image.cached,
    audioOutputTokens: readCounter(outputDetails.audio_tokens),
    imageOutputTokens: readCounter(outputDetails.image_tokens),
    ...lifetimesIn(inputDetails.cache_write_tokens_details, written),
    webSearches: searchesIn(usage),
  };
  const hosted = newHostedWork();
  if (Array.isArray(body.output)) { for (const item of body.output) noteHosted(hosted, item); }
  hosted.webSearches = billedSearchesIn(body) ?? hosted.webSearches;
  const checked = checkedCounters(withCounters(tokens, counters), [
    usage.input_tokens,
    usage.output_tokens,
    usage.total_tokens,
    inputDetails.cached_tokens,
    inputDetails.cache_write_tokens,
    outputDetails.reasoning_tokens,
  ]);
  return withTier(withHosted(checked, hosted), body.service_tier);
}

/** Searches counted in the usage. Source: xAI API reference, "server_side_tool_usage_details". */
function searchesIn({ server_side_tool_usage_details: details }: JsonObject): number {
  if (!isObject(details)) return 0;
  return readCounter(details.web_search_calls) + readCounter(details.x_search_calls);
}

/**
 * The searches that the vendor bills, where it reports them; null where only the items show them. It bills some
 * searches at a discount, and does not count them. Source: Responses API reference,
 * `tool_usage.web_search.num_requests`.
 */
export function billedSearchesIn(response: unknown): number | null {
  const used = isObject(response) && isObject(response.tool_usage) ? response.tool_usage.web_search : null;
  return isObject(used) && typeof used.num_requests === "number" ? readCounter(used.num_requests) : null;
}

/** Counters of a response without hosted work. */
export function newHostedWork(): ContentCounters {
  return { webSearches: 0, imagesMade: 0, fileSearches: 0 };
}

/** Counts a finished output item. Opening or searching a page that was found is not a web search. */
export function noteHosted(work: ContentCounters, item: unknown): void {
  if (!isObject(item) || item.status === "failed") return;
  const isSearch = item.type === "web_search_call" &&
    (!isObject(item.action) || (item.action.type ?? "search") === "search");
  if (isSearch || item.type === "x_search_call") work.webSearches++;
  if (item.type === "file_search_call") work.fileSearches = (work.fileSearches ?? 0) + 1;
  if (item.type === "image_generation_call" && typeof item.result === "string") work.imagesMade++;
}

/**
 * The usage with counts raised to those of the output items.
 *
 * @param response The finished response. What it says of searches counts, and not the items.
 */
export function withHosted<U extends Usage | null>(usage: U, work: ContentCounters, response: unknown = null): U {
  const isBilled = billedSearchesIn(response) !== null;
  return withAtLeast(usage, isBilled ? { ...work, webSearches: 0 } : work);
}

/** The cache writes by their lifetime, if the vendor counts them so. */
function writeLifetimes({ cacheWrite30mTokens = 0, cacheWrite12hTokens = 0 }: Usage): JsonObject {
  if (cacheWrite30mTokens + cacheWrite12hTokens === 0) return {};
  return {
    cache_write_tokens_details: { ttl_30m_tokens: cacheWrite30mTokens, ttl_12h_tokens: cacheWrite12hTokens },
  };
}

/** The inverse of {@linkcode readUsage}. Cache writes of both lifetimes, and prompts of tools, are added up. */
export function writeUsage(usage: Usage): JsonObject {
  const prompt = promptTokensOf(usage);
  return {
    input_tokens: prompt,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
      ...writeLifetimes(usage),
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: prompt + usage.outputTokens,
  };
}
