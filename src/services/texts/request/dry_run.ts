import type { Reservation } from "../../../money/billing/meter/meter.ts";
import { isBalanceSufficient, type ProbedAdmission, probedAdmission, writeAdmission } from "../../calls/dry_run.ts";
import { Settlement } from "../../calls/settlement.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { writeMoney } from "../../../platform/lib/basics/money.ts";
import { providerNameOf } from "../../../platform/names/provider_name.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import { byWeight } from "../../../vendors/routing/candidates.ts";
import { highestReservation } from "../../../money/billing/meter/highest_reservation.ts";
import type { TextAttempt, TextParts, TextRequest } from "../plan/attempt.ts";
import { errorOfCache } from "../plan/cached_request.ts";
import { droppedInPassThrough } from "../send/pass_through.ts";
import { passThroughEndpointOf } from "../plan/pass_through_endpoint.ts";
import { droppedFieldsHeader } from "../../../platform/http/request/dropped_fields_header.ts";
import type { TextOption } from "./text_options.ts";
import { fitWithin, highestCost, textReservation } from "../plan/text_reservation.ts";
import { type ShownTranslation, shownTranslation } from "../send/translate.ts";
import { translationEndpointOf } from "../plan/translation_endpoint.ts";

/** What a provider would be sent. */
interface CandidateDryRun {
  readonly provider: string;
  readonly dropped: readonly string[];
  /** Where the gateway would mark prefixes for the vendor's cache, and whether it would send a key of the cache. */
  readonly caching: ShownTranslation["caching"];
}

const NO_CACHING: ShownTranslation["caching"] = { marks: [], hasKey: false };

/**
 * Answers a request for text without execution: all checks of a real request, but no charge, no rate taken, and no
 * request to a vendor. The response has the same shape in all protocols. Source: docs/api/dry-runs.md.
 *
 * @param options The models that may serve the request, preferred first; at least one.
 * @throws {GatewayError} What a real request would throw before a vendor is called, except for a refusal by the balance
 * or a limit.
 */
export async function dryRunText(
  request: TextRequest,
  options: readonly TextOption[],
  parts: TextParts,
): Promise<Response> {
  const rule = highestReservation(options.map(({ measure, rates }) => textReservation(measure, rates)));
  const admission = await probedAdmission(() => parts.meter.probe(request, rule));
  const { reserved } = admission;
  const first = elementAt(options, 0);
  const runs = await candidateRuns(first, admission, request, parts);
  const fallbacks = options.slice(1).filter(({ measure, rates }) =>
    reserved === null || fitWithin(reserved.amount, measure, rates) !== null
  );
  const dropped = [...new Set(runs.flatMap((run) => run.dropped))];
  const answer = {
    dry_run: true,
    model: first.model.id,
    mode: "text",
    providers: [...new Set(runs.map(({ provider }) => provider))],
    fallbacks: fallbacks.map((option) => ({ model: option.model.id, providers: providersOf(option, request, parts) })),
    estimate: estimateOf(first, reserved),
    dropped,
    prompt_caching: runs.map(({ provider, caching }) => ({
      provider,
      marks: caching.marks,
      cache_key: caching.hasKey,
    })),
    ...writeAdmission(admission),
  };
  const headers: Record<string, string> = { ...request.responseFields?.() };
  if (dropped.length > 0) headers["x-service-dropped"] = droppedFieldsHeader(dropped);
  const { outputLimit } = reserved ?? NOTHING_RESERVED;
  if (outputLimit !== null && isBalanceSufficient(admission)) headers["x-service-output-limit"] = String(outputLimit);
  return Response.json(answer, { headers });
}

const NOTHING_RESERVED: Reservation = { amount: 0n, outputLimit: null };

/** The highest cost at the named model, with the output limit that the request has or gets. */
function estimateOf({ measure, rates }: TextOption, reserved: Reservation | null) {
  const { promptTokens, cachedTokens, outputTokens, choices } = measure;
  const output = reserved?.outputLimit ?? outputTokens;
  const cost = writeMoney(highestCost(measure, rates, output));
  return {
    prompt_tokens: promptTokens + cachedTokens,
    output_tokens: output * choices,
    text_cost: cost,
    cost: Number(cost),
  };
}

/** The providers of an option, most likely first. */
function providersOf({ candidates }: TextOption, { accountId }: TextRequest, { breaker }: TextParts): string[] {
  return [...new Set(byWeight(candidates, { breaker, accountId }).map(({ provider }) => providerNameOf(provider)))];
}

/**
 * Writes the request for each provider of an option, most likely first. Providers whose format cannot express it are
 * left out, as a real request skips them. Media of a request that would be refused are not downloaded. What a provider
 * that needs them would not be sent is then unknown.
 */
async function candidateRuns(
  option: TextOption,
  { reserved, refusal }: ProbedAdmission,
  original: TextRequest,
  given: TextParts,
): Promise<CandidateDryRun[]> {
  const parts = refusal === null ? given : { ...given, mediaInliner: () => Promise.reject(refusal) };
  const { accountId, memory } = original;
  const runs: CandidateDryRun[] = [];
  let failure: GatewayError | null = null;
  const heldBefore = memory.held;
  for (const candidate of byWeight(option.candidates, { breaker: parts.breaker, accountId })) {
    try {
      const { droppedFields: dropped, caching } = await shownAt(candidate, option, reserved, parts);
      runs.push({ provider: providerNameOf(candidate.provider), dropped, caching });
    } catch (error) {
      if (error === refusal) {
        runs.push({ provider: providerNameOf(candidate.provider), dropped: [], caching: NO_CACHING });
        continue;
      }
      if (!(error instanceof GatewayError) || error.code !== "invalid_request") throw error;
      failure ??= error;
    } finally {
      memory.releaseTo(heldBefore);
    }
  }
  if (runs.length === 0 && failure !== null) throw failure;
  return runs;
}

async function shownAt(
  candidate: Candidate,
  { request, model, measure }: TextOption,
  reserved: Reservation | null,
  parts: TextParts,
): Promise<ShownTranslation> {
  try {
    const provider = parts.providers.get(candidate.provider)!;
    const own = passThroughEndpointOf(request, { provider, model, name: candidate.model });
    const endpoint = own ?? translationEndpointOf(request, provider, { model, candidate });
    const settlement = unchargedSettlement(request, model, reserved ?? NOTHING_RESERVED, parts);
    const catalog = parts.catalog.at(request.receivedAt);
    const begunAt = request.receivedAt;
    const attempt = { request, measure, model, catalog, candidate, settlement, provider, endpoint, begunAt };
    const pass = own?.passThrough ?? null;
    const { droppedFields: dropped, caching } = pass === null
      ? await shownTranslation(attempt, parts)
      : { droppedFields: droppedInPassThrough(attempt, pass, parts), caching: NO_CACHING };
    const clamped = request.clampedLimit?.fields ?? [];
    return { droppedFields: [...clamped, ...dropped], caching };
  } catch (error) {
    throw request.cache ? errorOfCache(error, request.cache) : error;
  }
}

/** A settlement of a call that was not admitted: it carries the output limit and charges nothing. */
function unchargedSettlement(
  { requestId, accountId, keyId, receivedAt, record }: TextRequest,
  model: TextAttempt["model"],
  reserved: Reservation,
  parts: TextParts,
): Settlement {
  const facts = { kind: "text", requestId, accountId, keyId, receivedAt, record, model } as const;
  return new Settlement(facts, { reserved, charge() {}, release() {}, onOverdrawn() {} }, parts);
}
