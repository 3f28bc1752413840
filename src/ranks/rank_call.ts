import type { CallParts } from "../calls/paid_call.ts";
import { checkedTokens, inputUsage, logCorrected, maxTokensOf } from "../calls/text_measure.ts";
import { runWholeCall, type WholeCaller, type WholeResult } from "../calls/whole_call.ts";
import type { RankedDocument } from "../upstreams/rank_upstream.ts";
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

/**
 * Ranks documents: routes, admits, sends and charges.
 *
 * @throws {GatewayError} As `runWholeCall`.
 */
export async function rankDocuments(
  request: RankRequest,
  caller: WholeCaller,
  parts: CallParts,
): Promise<WholeResult<Ranking>> {
  const { models, modelName, bodyPin, query, documents, count, extras, measure, droppedFields } = request;
  caller.record.model = modelName;
  caller.record.dropped = droppedFields;
  const tokens = maxTokensOf(measure);
  const bound = { tokens, quantities: rankQuantities(tokens, maxUnitsOf(measure, MIN_BYTES_PER_TOKEN)) };
  return await runWholeCall(
    {
      kind: "rerank",
      models,
      bodyPin,
      capability: "ranks documents",
      load: ({ lazy, outbound }) => lazy?.ranks?.(outbound),
      boundOf: () => bound,
      send: async (attempt) => {
        const { candidate: { model }, upstream, exchange } = attempt;
        const outcome = await upstream.rank({ model, query, documents, count, extras }, exchange);
        const { results, reportedTokens, reportedUnits } = outcome;
        const checked = checkedTokens(measure, reportedTokens);
        const { units, isCorrected } = checkedUnits(measure, reportedUnits);
        const reason = isCorrected ? "above_ceiling" : checked.reason;
        logCorrected(parts.log, { reason }, { reported: reportedTokens, caller, attempt });
        return {
          result: { results, tokens: checked.tokens, units },
          quantities: rankQuantities(checked.tokens, units),
          usage: inputUsage(checked),
        };
      },
    },
    caller,
    parts,
  );
}
