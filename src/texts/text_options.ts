import { type CallOption, type CallOptions, joinOptions, makeOptions } from "../calls/options.ts";
import { routeOf } from "../calls/paid_call.ts";
import type { Model } from "../catalog/model.ts";
import { type Candidate, usableCandidates } from "../routing/candidates.ts";
import type { TextParts, TextRequest } from "./attempt.ts";
import { candidatesOfCache } from "./cached_turn.ts";
import { permittedTo } from "./own_endpoint.ts";
import { reservedTariff, tierTakenBy } from "./service_tier.ts";
import { type MeasuredText, measureOf } from "./text_measure.ts";
import { namedTextModel } from "./text_model.ts";

/** A model that may serve a turn, checked: who is to serve it there, and what it may consume. */
export interface TextOption extends MeasuredText, CallOption {
  readonly model: Model;
  /** The turn with limits of output tokens that the model can keep. */
  readonly turn: TextRequest;
}

/**
 * The models that may serve a turn: the one that it names, then the fallbacks of that name. A fallback that cannot
 * serve the turn (a pin to a provider that does not serve it, state at another provider, a hosted tool or tier without
 * a price on it) is left out. A turn with a cached content has no fallbacks, as the cache belongs to one model.
 *
 * @throws {GatewayError} What keeps the named model from serving the turn; misconfigured providers only when no
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
  const tariff = reservedTariff(turn, model, tierTakenBy(providers, turn));
  const candidates = await permittedTo(turn, model, routed, parts);
  return { model, turn, candidates, ...measureOf(turn, { ...model, tariff }, takesAnyFile(candidates, parts)) };
}

/** The turn with limits of output tokens that its model can keep, as far as the catalog knows that. */
function withModelsLimit(turn: TextRequest, model: Model): TextRequest {
  const most = model.topProvider.maxCompletionTokens;
  const lowered = most === 0 ? null : turn.format.clampLimit(turn.body, most);
  return lowered === null ? turn : { ...turn, body: { ...turn.body, ...lowered.set }, lowered };
}

/** The providers to try for a turn at one model. Throws as `routeOf`. */
export function routeTo(turn: TextRequest, model: Model, parts: TextParts): readonly Candidate[] {
  const { pin, candidates } = routeOf(model, turn, parts);
  if (!turn.cache) return candidates;
  const context = { breaker: parts.breaker, accountId: turn.accountId };
  return usableCandidates(candidatesOfCache(turn.cache, pin, candidates, model.serves), context);
}

/** Vendors of the content format take any file by its address, those of the others a picture for a picture. */
function takesAnyFile(candidates: readonly Candidate[], { providers }: TextParts): boolean {
  return candidates.some(({ provider }) => providers.get(provider)!.text.some(({ format }) => format.takesAnyFile));
}
