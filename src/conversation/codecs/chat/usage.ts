import type { JsonObject, UsageFollower } from "../../codec.ts";
import { checkedCounters, laterReport, promptTokensOf, readCounter } from "../../usage.ts";
import type { Usage } from "../../usage.ts";
import { listOf, objectOf, parsedOrNull } from "../../wire_value.ts";

/**
 * The usage of a whole reply or of a chunk; null when it has none. `prompt_tokens` includes what a cache gave,
 * `completion_tokens` should include reasoning: some vendors leave it out there and have it in `total_tokens` alone,
 * so a larger total decides. Source: Chat Completions reference, "The completion object".
 */
export function readUsage(body: unknown): Usage | null {
  const reply = objectOf(body);
  const usage = objectOf(reply?.usage) ?? objectOf(objectOf(reply?.x_groq)?.usage);
  if (!usage || (typeof usage.prompt_tokens !== "number" && typeof usage.completion_tokens !== "number")) return null;
  const promptDetails = objectOf(usage.prompt_tokens_details);
  const prompt = readCounter(usage.prompt_tokens);
  const cached = promptDetails?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  const cacheRead = Math.min(readCounter(cached), prompt);
  const cacheWrite = Math.min(readCounter(promptDetails?.cache_write_tokens), prompt - cacheRead);
  const completion = readCounter(usage.completion_tokens);
  const uncounted = Math.max(0, readCounter(usage.total_tokens) - prompt - completion);
  const output = completion + uncounted;
  const thought = objectOf(usage.completion_tokens_details)?.reasoning_tokens ?? usage.reasoning_tokens;
  const read = {
    freshTokens: prompt - cacheRead - cacheWrite,
    cacheReadTokens: cacheRead,
    cacheWrite5mTokens: cacheWrite,
    cacheWrite1hTokens: 0,
    toolPromptTokens: 0,
    outputTokens: output,
    reasoningTokens: Math.min(readCounter(thought) || uncounted, output),
  };
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const counters = [prompt_tokens, completion_tokens, total_tokens, cached, promptDetails?.cache_write_tokens, thought];
  return checkedCounters(read, counters);
}

/** The same as this form tells it. Both lives of cache entries become one number. */
export function writeUsage(usage: Usage): JsonObject {
  const prompt = promptTokensOf(usage);
  const written = usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: written, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/**
 * Follows a stream that passes through. Beside `[DONE]` a finish reason counts as the end, as some vendors send no
 * other mark. The usage that comes last holds, unless it counts nothing: some vendors send running totals.
 */
export function usageFollower(): UsageFollower {
  let usage: Usage | null = null;
  let ended = false;
  return {
    concerns: (data) =>
      data.includes('"usage":{') || data.includes('"usage": {') || data.includes('"finish_reason":"') ||
      data.includes('"finish_reason": "') || data.startsWith("[DONE]"),
    follow(data) {
      if (data.startsWith("[DONE]")) {
        ended = true;
        return;
      }
      const chunk = objectOf(parsedOrNull(data));
      usage = laterReport(usage, readUsage(chunk));
      ended ||= listOf(chunk?.choices).some((choice) => typeof objectOf(choice)?.finish_reason === "string");
    },
    usage: () => usage,
    ended: () => ended,
  };
}
