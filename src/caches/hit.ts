import { promptTokensOf, type Usage } from "../conversation/usage.ts";
import type { CacheReference } from "./reference.ts";

/**
 * What a turn with a cache consumed, as its caller is told and charged. A vendor's own cache is counted by its vendor.
 * For an emulated one the create paid for writing it, so each reference reads all of it, whether the vendor had the
 * prefix or wrote it just then: what the cache holds moves from what was written, or taken anew, to what was read, and
 * no token is in two places. Where nothing but the gateway's own count is known, the same holds for both kinds. Source:
 * docs/api/caches.md#billing.
 */
export function usageWithCache(usage: Usage, cache: CacheReference | null | undefined): Usage {
  if (!cache || (cache.kind === "native" && !usage.estimated)) return usage;
  const prompt = promptTokensOf(usage) - usage.toolPromptTokens;
  const cacheReadTokens = Math.min(prompt, Math.max(cache.tokens, usage.cacheReadTokens));
  let left = cacheReadTokens - usage.cacheReadTokens;
  const lessen = (tokens: number) => {
    const taken = Math.min(tokens, left);
    left -= taken;
    return tokens - taken;
  };
  const cacheWrite1hTokens = lessen(usage.cacheWrite1hTokens);
  const cacheWrite5mTokens = lessen(usage.cacheWrite5mTokens);
  const freshTokens = lessen(usage.freshTokens);
  return { ...usage, cacheReadTokens, cacheWrite1hTokens, cacheWrite5mTokens, freshTokens };
}
