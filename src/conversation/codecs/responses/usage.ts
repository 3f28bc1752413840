import type { JsonObject, UsageFollower } from "../../codec.ts";
import { checkedCounters, promptTokensOf, readCounter, type Usage } from "../../usage.ts";
import { isObject, parsedOrNull } from "../../wire_value.ts";

/**
 * The usage of a response object. `input_tokens` holds the cached and the newly cached ones, `output_tokens` holds
 * reasoning; a vendor whose total says more than the sum leaves reasoning out of the output, and the total is right.
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
  const reported = readCounter(usage.output_tokens);
  const reasoning = readCounter(outputDetails.reasoning_tokens);
  const missing = readCounter(usage.total_tokens) - prompt - reported;
  const reading = {
    freshTokens: prompt - read - written,
    cacheReadTokens: read,
    cacheWrite5mTokens: written,
    cacheWrite1hTokens: 0,
    toolPromptTokens: 0,
    outputTokens: missing > 0 && missing === reasoning ? reported + missing : reported,
    reasoningTokens: reasoning,
  };
  return checkedCounters(reading, [
    usage.input_tokens,
    usage.output_tokens,
    usage.total_tokens,
    inputDetails.cached_tokens,
    inputDetails.cache_write_tokens,
    outputDetails.reasoning_tokens,
  ]);
}

/** The inverse of {@linkcode readUsage}; the lifetimes of cache writes and the prompts of tools are summed up. */
export function writeUsage(usage: Usage): JsonObject {
  const prompt = promptTokensOf(usage);
  return {
    input_tokens: prompt,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: prompt + usage.outputTokens,
  };
}

const END_MARK = /"response\.(?:completed|incomplete|failed)"/;

/** Usage stands in the last frame alone, the one that is also the end mark. */
export function usageFollower(): UsageFollower {
  let usage: Usage | null = null;
  let ended = false;
  return {
    concerns: (data) => END_MARK.test(data),
    follow(data) {
      const event = parsedOrNull(data);
      if (!isObject(event) || typeof event.type !== "string" || !END_MARK.test(`"${event.type}"`)) return;
      ended = true;
      usage = readUsage(event.response) ?? usage;
    },
    usage: () => usage,
    ended: () => ended,
  };
}
