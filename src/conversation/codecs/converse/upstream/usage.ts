import { checkedCounters, NO_USAGE, readCounter, type Usage, withTier } from "../../../neutral/usage.ts";
import { isObject, objectsOf } from "../../../neutral/wire_value.ts";

/** The usage in a whole reply, or in the last event of a stream; null when it reports none. */
export function readUsage(body: unknown): Usage | null {
  if (!isObject(body) || !isObject(body.usage)) return null;
  const { usage, serviceTier } = body;
  const { inputTokens, outputTokens, totalTokens, cacheReadInputTokens, cacheWriteInputTokens } = usage;
  if (typeof inputTokens !== "number" && typeof outputTokens !== "number") return null;
  const input = readCounter(inputTokens);
  const output = readCounter(outputTokens);
  const cacheReadTokens = readCounter(cacheReadInputTokens);
  const written = readCounter(cacheWriteInputTokens);
  const details = objectsOf(usage.cacheDetails);
  const writtenFor1h = Math.min(written, sumOf(details.filter(({ ttl }) => ttl === "1h")));
  // Input tokens do not include cached ones, unless the vendor's total does not count these apart.
  const isInclusive = readCounter(totalTokens) === input + output && cacheReadTokens + written <= input;
  const read: Usage = {
    ...NO_USAGE,
    freshTokens: isInclusive ? input - cacheReadTokens - written : input,
    cacheReadTokens,
    cacheWrite5mTokens: written - writtenFor1h,
    cacheWrite1hTokens: writtenFor1h,
    outputTokens: output,
  };
  const checked = checkedCounters(read, [
    inputTokens,
    outputTokens,
    cacheReadInputTokens,
    cacheWriteInputTokens,
    ...details.map(({ inputTokens: tokens }) => tokens),
  ]);
  return withTier(checked, isObject(serviceTier) ? serviceTier.type : null);
}

function sumOf(details: readonly { readonly [name: string]: unknown }[]): number {
  return details.reduce((sum, { inputTokens }) => sum + readCounter(inputTokens), 0);
}
