import type { CallParts } from "../calls/paid_call.ts";
import { checkedTokens, inputUsage, logCorrected, maxTokensOf, type TextMeasure } from "../calls/text_measure.ts";
import { runWholeCall, type WholeCaller, type WholeResult } from "../calls/whole_call.ts";
import type { QuantitiesBy } from "../billing/tariff.ts";
import type { ModerationOutcome } from "../upstreams/moderation_upstream.ts";
import type { ModerationRequest } from "./moderation_request.ts";

/** The results, and who made them. */
export type MadeModeration = WholeResult<Pick<ModerationOutcome, "id" | "results">>;

/**
 * Checks inputs: routes, admits, sends and charges.
 *
 * @throws {GatewayError} As `runWholeCall`.
 */
export async function moderate(
  request: ModerationRequest,
  caller: WholeCaller,
  parts: CallParts,
): Promise<MadeModeration> {
  const { models, modelName, bodyPin, input, count, measure, droppedFields } = request;
  caller.record.model = modelName;
  caller.record.dropped = droppedFields;
  return await runWholeCall(
    {
      kind: "moderation",
      models,
      bodyPin,
      capability: "moderates",
      load: ({ lazy, outbound }) => lazy?.moderations?.(outbound),
      boundOf: () => boundOf(measure),
      send: async (attempt) => {
        const { candidate: { model }, upstream, exchange } = attempt;
        const { id, results, reportedTokens: reported } = await upstream.moderate({ model, input, count }, exchange);
        const checked = checkedTokens(measure, reported);
        logCorrected(parts.log, checked, { reported, caller, attempt });
        return {
          result: { id, results },
          quantities: moderationQuantities(checked.tokens),
          usage: inputUsage(checked),
        };
      },
    },
    caller,
    parts,
  );
}

function boundOf(measure: TextMeasure) {
  const tokens = maxTokensOf(measure);
  return { tokens, quantities: moderationQuantities(tokens) };
}

/** The chargeable quantities of a request. */
export function moderationQuantities(tokens: number): QuantitiesBy<"moderation"> {
  return { prompt: tokens, request: 1 };
}
