import type { PriceKey, Quantities } from "../money/billing/prices/tariff.ts";
import type { CallParts } from "../services/calls/paid_call.ts";
import type { WholeCall, WholeCaller } from "../services/calls/whole_call.ts";
import { dryRunWholeCall, type WholeServing } from "../services/calls/whole_dry_run.ts";
import { dryRunResponse, writeEstimatedCost } from "./dry_run_response.ts";

/** The fields of estimates, by what they count. */
const ESTIMATED: Readonly<Partial<Record<PriceKey, string>>> = {
  prompt: "prompt_tokens",
  audio: "audio_tokens",
  audio_output: "audio_output_tokens",
  completion: "output_tokens",
  search_unit: "search_units",
  character: "characters",
  audio_second: "seconds",
};

/**
 * Answers a dry run of a call. Source: docs/api/dry-runs.md.
 *
 * @throws {GatewayError} As {@linkcode dryRunWholeCall}.
 */
export async function dryRunWhole<U, T>(
  call: WholeCall<U, T>,
  caller: WholeCaller,
  parts: CallParts,
): Promise<Response> {
  const { fallbacks, bound, maxCost, dropped, admission, ...serving } = await dryRunWholeCall(call, caller, parts);
  return dryRunResponse({
    ...writeServing(serving),
    mode: call.kind,
    fallbacks: fallbacks.map(writeServing),
    estimate: { ...estimatesOf(bound.quantities), ...writeEstimatedCost(call.kind, maxCost) },
    dropped,
    admission,
  });
}

function writeServing({ model, providers }: WholeServing) {
  return { model: model.id, providers };
}

function estimatesOf(quantities: Quantities): Record<string, number> {
  const estimates: Record<string, number> = {};
  for (const key in quantities) {
    const field = ESTIMATED[key as PriceKey];
    const quantity = quantities[key as PriceKey]!;
    // A model that is charged by characters has no tokens.
    if (field !== undefined && quantity > 0) estimates[field] = quantity;
  }
  return estimates;
}
