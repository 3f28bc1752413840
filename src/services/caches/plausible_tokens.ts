import { checkUsage } from "../calls/plausible_usage.ts";
import { content } from "../../conversation/codecs/content/mod.ts";
import { NO_USAGE, promptTokensOf } from "../../conversation/neutral/usage.ts";
import type { CacheParts } from "./cache_parts.ts";
import type { CacheCreation, StoredContent } from "./cache_creation.ts";

/**
 * Returns the cache with a plausible token count. A count above the model's context and output is reduced to the
 * context. If the vendor reports no valid count, the gateway counts. Both cases are logged as `usage_implausible`.
 *
 * @param requestId For the log.
 */
export async function withPlausibleTokens(
  kept: StoredContent,
  { id, model, content: sent }: CacheCreation,
  { countHere, log }: Pick<CacheParts, "countHere" | "log">,
  requestId: string,
): Promise<StoredContent> {
  const limits = {
    contextTokens: model.contextLength,
    outputTokens: model.topProvider.maxCompletionTokens,
    choices: 1,
    hostedCalls: 0,
  };
  const usage = { ...NO_USAGE, freshTokens: kept.tokens };
  const checked = checkUsage(usage, limits, { hasPrompt: true, hasOutput: false });
  if (checked.verdict === "plausible") return kept;
  const { provider } = kept.home;
  const reason = checked.verdict;
  log.warn("usage_implausible", { requestId, ref: id, model: model.id, provider, reason, inputTokens: kept.tokens });
  if (checked.verdict === "above_ceiling") return { ...kept, tokens: promptTokensOf(checked.usage) };
  const tokens = await countHere(content.caller.read({ ...sent, model: model.id }));
  return { ...kept, tokens, countedBy: null };
}
