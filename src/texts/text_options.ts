import { type CallOption, type CallOptions, joinOptions, makeOptions } from "../calls/options.ts";
import { routeOf } from "../calls/paid_call.ts";
import type { Model } from "../catalog/model.ts";
import { type Candidate, usableCandidates } from "../routing/candidates.ts";
import type { TextParts, TextRequest } from "./attempt.ts";
import { candidatesOfCache } from "./cached_request.ts";
import { candidatesPermittedFor } from "./pass_through_endpoint.ts";
import { reservedTariff, tierSupportOf } from "./service_tier.ts";
import { type MeasuredText, measureOf } from "./text_measure.ts";
import { namedTextModel } from "./text_model.ts";

/** A validated model that may serve a request, with its candidates and the maximum that the request may consume. */
export interface TextOption extends MeasuredText, CallOption {
  readonly model: Model;
  /** The request with its output limits clamped to the model's. */
  readonly turn: TextRequest;
}

/**
 * Returns the models that may serve a request: the named one, then its fallbacks. A fallback that cannot serve the
 * request is left out: a pin to a provider without it, state at another provider, or a hosted tool or tier without a
 * price. A request with cached content has no fallbacks, because the cache belongs to one model.
 *
 * @throws {GatewayError} The reason why the named model cannot serve the request; misconfigured providers only if no
 * fallback is left.
 */
export async function textOptionsOf(turn: TextRequest, parts: TextParts): Promise<CallOptions<TextOption>> {
  const { model, fallbacks } = namedTextModel(parts.catalog, turn.model, turn.format);
  const models = turn.cache ? [model] : [model, ...fallbacks];
  const options = await makeOptions(models, (each) => optionOf(turn, each, parts));
  return joinOptions(options, { breaker: parts.breaker, accountId: turn.accountId });
}

async function optionOf(asked: TextRequest, model: Model, parts: TextParts): Promise<TextOption> {
  const turn = withModelsLimit(asked, model);
  const routed = routeTo(turn, model, parts);
  const providers = routed.map(({ provider }) => parts.providers.get(provider)!);
  const tariff = reservedTariff(turn, model, tierSupportOf(providers, turn));
  const candidates = await candidatesPermittedFor(turn, model, routed, parts);
  return { model, turn, candidates, ...measureOf(turn, { ...model, tariff }, takesAnyFile(candidates, parts)) };
}

/** Returns the request with its output limits clamped to the model's limit, if the catalog has one. */
function withModelsLimit(turn: TextRequest, model: Model): TextRequest {
  const most = model.topProvider.maxCompletionTokens;
  const lowered = most === 0 ? null : turn.format.clampLimit(turn.body, most);
  return lowered === null ? turn : { ...turn, body: { ...turn.body, ...lowered.set }, clampedLimit: lowered };
}

/** Returns the providers to try for a request at one model. Throws as `routeOf`. */
export function routeTo(turn: TextRequest, model: Model, parts: TextParts): readonly Candidate[] {
  const { pin, candidates } = routeOf(model, turn, parts);
  if (!turn.cache) return candidates;
  const context = { breaker: parts.breaker, accountId: turn.accountId };
  return usableCandidates(candidatesOfCache(turn.cache, pin, candidates, model.serves), context);
}

/**
 * Vendors of the content format accept any file by its address. Vendors of other formats accept only pictures as
 * pictures.
 */
function takesAnyFile(candidates: readonly Candidate[], { providers }: TextParts): boolean {
  return candidates.some(({ provider }) => providers.get(provider)!.text.some(({ format }) => format.takesAnyFile));
}
