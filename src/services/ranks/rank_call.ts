import type { CallParts } from "../calls/paid_call.ts";
import { checkedTokens, inputUsage, logCorrected, maxTokensOf } from "../calls/text_measure.ts";
import type { WholeCall } from "../calls/whole_call.ts";
import type { RankedDocument, RankUpstream } from "../../vendors/upstreams/contract/rank_upstream.ts";
import { checkedUnits, maxUnitsOf, rankQuantities } from "./rank_quantities.ts";
import type { RankRequest } from "./rank_request.ts";

/** Ranked documents, and what is charged for them. */
export interface Ranking {
  /** Most relevant first. */
  readonly results: readonly RankedDocument[];
  readonly tokens: number;
  readonly units: number;
}

const MIN_BYTES_PER_TOKEN = 2;

/** The call for a request to rank documents. */
export function rankCall(
  { models, modelName, bodyPin, query, documents, count, extras, measure, droppedFields }: RankRequest,
  { log }: Pick<CallParts, "log">,
): WholeCall<RankUpstream, Ranking> {
  const tokens = maxTokensOf(measure);
  const bound = { tokens, quantities: rankQuantities(tokens, maxUnitsOf(measure, MIN_BYTES_PER_TOKEN)) };
  return {
    kind: "rerank",
    models,
    modelName,
    bodyPin,
    capability: "ranks documents",
    load: ({ capabilities }) => capabilities.ranks?.load(),
    droppedAt: () => droppedFields,
    boundOf: () => bound,
    async send(attempt) {
      const { candidate: { model }, upstream, exchange } = attempt;
      const outcome = await upstream.rank({ model, query, documents, count, extras }, exchange);
      const { results, reportedTokens, reportedUnits } = outcome;
      const checked = checkedTokens(measure, reportedTokens);
      const { units, isCorrected } = checkedUnits(measure, reportedUnits);
      const reason = isCorrected ? "above_ceiling" : checked.reason;
      logCorrected(log, { reason }, reportedTokens, attempt);
      return {
        result: { results, tokens: checked.tokens, units },
        quantities: rankQuantities(checked.tokens, units),
        usage: inputUsage(checked),
      };
    },
  };
}
