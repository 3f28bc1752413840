import type { CallParts } from "../calls/paid_call.ts";
import { checkedTokens, inputUsage, logCorrected, maxTokensOf, type TextMeasure } from "../calls/text_measure.ts";
import type { WholeCall } from "../calls/whole_call.ts";
import type { QuantitiesBy } from "../../money/billing/prices/tariff.ts";
import type { ModerationOutcome, ModerationUpstream } from "../../vendors/upstreams/contract/moderation_upstream.ts";
import type { ModerationRequest } from "./moderation_request.ts";

/** The call for a request to check inputs. */
export function moderationCall(
  { models, modelName, bodyPin, input, count, measure, droppedFields }: ModerationRequest,
  { log }: Pick<CallParts, "log">,
): WholeCall<ModerationUpstream, Pick<ModerationOutcome, "id" | "results">> {
  return {
    kind: "moderation",
    models,
    modelName,
    bodyPin,
    capability: "moderates",
    load: ({ capabilities }) => capabilities.moderations?.load(),
    droppedAt: () => droppedFields,
    boundOf: () => boundOf(measure),
    async send(attempt) {
      const { candidate: { model }, upstream, exchange } = attempt;
      const { id, results, reportedTokens } = await upstream.moderate({ model, input, count }, exchange);
      const checked = checkedTokens(measure, reportedTokens);
      logCorrected(log, checked, reportedTokens, attempt);
      return {
        result: { id, results },
        quantities: moderationQuantities(checked.tokens),
        usage: inputUsage(checked),
      };
    },
  };
}

function boundOf(measure: TextMeasure) {
  const tokens = maxTokensOf(measure);
  return { tokens, quantities: moderationQuantities(tokens) };
}

/** The chargeable quantities of a request. */
export function moderationQuantities(tokens: number): QuantitiesBy<"moderation"> {
  return { prompt: tokens, request: 1 };
}
