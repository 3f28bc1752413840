import * as z from "zod";
import { NO_QUIRKS, type Quirks } from "../../../conversation/contract/quirks.ts";
import type { RankOrder, RankOutcome, RankUpstream } from "../contract/rank_upstream.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { wholeRequestOptions } from "../shared/whole_request_options.ts";

/** `data` is Voyage's name, `meta` Cohere's, the others are those of Jina, vLLM and OpenRouter. */
const Result = z.object({ index: z.int().nonnegative(), relevance_score: z.number() });
const Reply = z.object({
  results: z.array(Result).optional(),
  data: z.array(Result).optional(),
  usage: z.object({ total_tokens: z.unknown().optional(), search_units: z.unknown().optional() }).nullish(),
  meta: z.object({ billed_units: z.object({ search_units: z.unknown().optional() }).nullish() }).nullish(),
});

/**
 * Ranks in the format that Cohere introduced. Documents are not requested back, because the gateway has them. Sources:
 * API references of Cohere, Jina, Voyage, OpenRouter and vLLM, "Rerank".
 */
export function openaiRanks(outbound: Outbound, quirks: Quirks = NO_QUIRKS): RankUpstream {
  const countField = quirks.has("top_k_ranks") ? "top_k" : "top_n";
  return {
    rank: (order, exchange) =>
      outbound.json("POST", "/rerank", bodyOf(order, countField), (response) => {
        const outcome = readOutcome(response, order);
        if (outcome === null) throw outbound.failure("broken", "", { accepted: "unknown" });
        return outcome;
      }, wholeRequestOptions(exchange)),
  };
}

function bodyOf({ model, query, documents, count, extras }: RankOrder, countField: string) {
  return { ...extras, model, query, documents, ...count < documents.length && { [countField]: count } };
}

/** Null if the reply does not fit the order. */
function readOutcome(response: unknown, { documents, count }: RankOrder): RankOutcome | null {
  const { results, data, usage, meta } = Reply.parse(response);
  const ranked = results ?? data ?? [];
  const indexes = new Set(ranked.map(({ index }) => index));
  const isFit = indexes.size === ranked.length && ranked.length >= count &&
    ranked.every(({ index, relevance_score }) => index < documents.length && Number.isFinite(relevance_score));
  if (!isFit) return null;
  const sorted = ranked.map(({ index, relevance_score: score }) => ({ index, score }))
    .sort((one, other) => other.score - one.score);
  return {
    results: sorted.slice(0, count),
    reportedTokens: usage?.total_tokens ?? null,
    reportedUnits: meta?.billed_units?.search_units ?? usage?.search_units ?? null,
  };
}
