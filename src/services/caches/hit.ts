import { promptTokensOf, type Usage } from "../../conversation/neutral/usage.ts";
import type { CacheReference } from "./reference.ts";

/**
 * The usage of a request with a cache, as reported and charged. A vendor counts its own cache. For an emulated cache,
 * the create has paid for writing, so each reference counts as reading all of it, whether or not the vendor had the
 * prefix cached. The cache's tokens move from the written or uncached input to the read input; no token is counted
 * twice. A cache of a model with only the vendor's implicit cache is input like any other. The same applies to both
 * types if only the gateway's own count is available. Source: docs/api/caches.md#billing.
 */
export function usageWithCache(usage: Usage, cache: CacheReference | null | undefined): Usage {
  if (!cache || cache.isImplicit || (cache.kind === "native" && !usage.estimated)) return usage;
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
