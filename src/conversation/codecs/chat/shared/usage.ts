import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  checkedCounters,
  lifetimesIn,
  mediumTokensOf,
  outputSideOf,
  promptTokensOf,
  readCounter,
  withCounters,
  withImageTokens,
  withTier,
} from "../../../neutral/usage.ts";
import type { ContentCounters, Usage } from "../../../neutral/usage.ts";
import { listOf, objectOf } from "../../../neutral/wire_value.ts";

/**
 * The usage of a whole reply or a chunk; null when it has none. `prompt_tokens` includes cached tokens.
 * `completion_tokens` should include reasoning, but some vendors count reasoning only in `total_tokens`: the difference
 * is then added. Source: Chat Completions reference, "The completion object".
 */
export function readUsage(body: unknown): Usage | null {
  const reply = objectOf(body);
  const usage = objectOf(reply?.usage) ?? objectOf(objectOf(reply?.x_groq)?.usage);
  if (!usage || (typeof usage.prompt_tokens !== "number" && typeof usage.completion_tokens !== "number")) return null;
  const promptDetails = objectOf(usage.prompt_tokens_details);
  const prompt = readCounter(usage.prompt_tokens);
  const cached = promptDetails?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ??
    usage.num_cached_tokens;
  const cacheRead = Math.min(readCounter(cached), prompt);
  const cacheWrite = Math.min(readCounter(promptDetails?.cache_write_tokens), prompt - cacheRead);
  const completion = readCounter(usage.completion_tokens);
  const uncounted = Math.max(0, readCounter(usage.total_tokens) - prompt - completion);
  const output = completion + uncounted;
  // A total without reasoning beside the completion shows that it is part of it.
  const isInside = readCounter(usage.total_tokens) > 0 && readCounter(usage.total_tokens) >= prompt + completion;
  const reasoning = objectOf(usage.completion_tokens_details)?.reasoning_tokens ?? usage.reasoning_tokens;
  const tokens: Usage = {
    freshTokens: prompt - cacheRead - cacheWrite,
    cacheReadTokens: cacheRead,
    cacheWrite5mTokens: cacheWrite,
    cacheWrite1hTokens: 0,
    toolPromptTokens: 0,
    ...outputSideOf(output, readCounter(reasoning) || Math.min(uncounted, output), isInside),
  };
  const extras: ContentCounters = { imagesMade: 0, webSearches: 0 };
  noteExtras(extras, reply);
  const webSearches = searchesIn(usage) ?? extras.webSearches;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const counters = [
    prompt_tokens,
    completion_tokens,
    total_tokens,
    cached,
    promptDetails?.cache_write_tokens,
    reasoning,
  ];
  const read = withImageTokens(withCounters(tokens, {
    ...hasDetails(usage) ? mediaIn(usage, tokens) : NO_MEDIA,
    ...lifetimesIn(promptDetails?.cache_write_tokens_details, cacheWrite),
    ...extras,
    webSearches,
    webFetches: toolCallsIn(usage, "web_fetch_requests"),
    ocrPages: toolCallsIn(usage, "ocr_pages"),
    // Source: Mistral API reference, "UsageInfo".
    audioSeconds: readCounter(usage.prompt_audio_seconds),
  }));
  return withTier(checkedCounters(read, counters), reply?.service_tier ?? usage.service_tier);
}

/** Zero counters are left out of usage, so a usage without details needs none of them. */
const NO_MEDIA: Partial<ReturnType<typeof mediaIn>> = {};

function hasDetails({ prompt_tokens_details: prompt, completion_tokens_details: completion }: JsonObject): boolean {
  return objectOf(prompt) !== null || objectOf(completion) !== null;
}

/** Tokens by medium, from the details of both sides. `cached_tokens_details` counts those read from a cache. */
function mediaIn(usage: JsonObject, tokens: Usage) {
  const prompt = objectOf(usage.prompt_tokens_details) ?? {};
  const completion = objectOf(usage.completion_tokens_details) ?? {};
  const cached = objectOf(prompt.cached_tokens_details);
  const medium = (name: string) =>
    mediumTokensOf(readCounter(prompt[name]), cached && readCounter(cached[name]), tokens);
  const audio = medium("audio_tokens");
  const image = medium("image_tokens");
  return {
    audioInputTokens: audio.fresh,
    audioCacheReadTokens: audio.cached,
    imageInputTokens: image.fresh,
    imageCacheReadTokens: image.cached,
    audioOutputTokens: readCounter(completion.audio_tokens),
    imageOutputTokens: readCounter(completion.image_tokens),
    videoOutputTokens: readCounter(completion.video_tokens),
  };
}

/**
 * Searches counted in the usage of dialects; null when not counted. Sources: Perplexity API reference, "usage"
 * (`num_search_queries`); xAI API reference, "usage" (`num_sources_used`: live search is billed by source).
 */
function searchesIn(usage: JsonObject): number | null {
  const details = serverToolsIn(usage);
  const count = details?.web_search_requests ?? usage.num_search_queries ?? usage.num_sources_used;
  return typeof count === "number" ? readCounter(count) : null;
}

function serverToolsIn(usage: JsonObject): JsonObject | null {
  return objectOf(usage.server_tool_use_details) ?? objectOf(usage.server_tool_use);
}

function toolCallsIn(usage: JsonObject, name: string): number {
  return readCounter(serverToolsIn(usage)?.[name]);
}

/**
 * Adds the billable content of a reply or a chunk. Any citation counts as one search, because search models report no
 * count.
 */
export function noteExtras(extras: ContentCounters, reply: JsonObject | null): void {
  for (const choice of listOf(reply?.choices)) {
    const one = objectOf(choice);
    const message = objectOf(one?.message) ?? objectOf(one?.delta);
    if (!message) continue;
    extras.imagesMade += listOf(message.images).length;
    const isCited = listOf(message.annotations).some((annotation) => objectOf(annotation)?.type === "url_citation");
    if (isCited) extras.webSearches = 1;
  }
}

/** Writes usage in this format, which has one number for cache writes of both lifetimes. */
export function writeUsage(usage: Usage): JsonObject {
  const prompt = promptTokensOf(usage);
  const written = usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: written,
      audio_tokens: (usage.audioInputTokens ?? 0) + (usage.audioCacheReadTokens ?? 0),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.audioOutputTokens ?? 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
