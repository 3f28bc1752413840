import { routeOf } from "../calls/paid_call.ts";
import type { Model } from "../catalog/model.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { type Candidate, restingLast, usableCandidates } from "../routing/candidates.ts";
import type { TextParts, TextTurn } from "./attempt.ts";
import { candidatesOfCache } from "./cached_turn.ts";
import { permittedTo } from "./own_endpoint.ts";
import { requestedTariff } from "./service_tier.ts";
import { type MeasuredText, measureOf } from "./text_measure.ts";
import { namedTextModel } from "./text_model.ts";

/** A model that may serve a turn, checked: who is to serve it there, and what it may consume. */
export interface TextOption extends MeasuredText {
  readonly model: Model;
  /** The turn with limits of output tokens that the model can keep. */
  readonly turn: TextTurn;
  /** In the order in which they are tried; at least one. */
  readonly candidates: readonly Candidate[];
}

/** The options of a turn, the preferred first, and all their candidates in the order in which they are tried. */
export interface TextOptions {
  readonly options: readonly TextOption[];
  readonly candidates: readonly Candidate[];
  /** The option that a candidate belongs to. */
  optionOf(candidate: Candidate): TextOption;
}

/**
 * The models that may serve a turn: the one that it names, then the fallbacks of that name. A fallback that cannot serve
 * the turn (a pin to a provider that does not serve it, state at another provider, a hosted tool or tier without a price
 * on it) is left out. A turn with a cached content has no fallbacks, as the cache belongs to one model.
 *
 * @throws {GatewayError} What keeps the named model from serving the turn; misconfigured providers only when no fallback
 * is left.
 */
export async function textOptionsOf(turn: TextTurn, parts: TextParts): Promise<TextOptions> {
  const { model, fallbacks } = namedTextModel(parts.catalog, turn.model, turn.format);
  if (fallbacks.length === 0 || turn.cache) return joined([await optionOf(turn, model, parts)], turn, parts);
  const options: TextOption[] = [];
  let misconfigured: unknown = null;
  try {
    options.push(await optionOf(turn, model, parts));
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "upstream_auth_failed") throw error;
    misconfigured = error;
  }
  for (const fallback of fallbacks) {
    try {
      options.push(await optionOf(turn, fallback, parts));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  }
  if (options.length === 0) throw misconfigured;
  return joined(options, turn, parts);
}

async function optionOf(asked: TextTurn, model: Model, parts: TextParts): Promise<TextOption> {
  const turn = withModelsLimit(asked, model);
  const routed = routeTo(turn, model, parts);
  const tariff = requestedTariff(turn, model);
  const candidates = await permittedTo(turn, model, routed, parts);
  return { model, turn, candidates, ...measureOf(turn, { ...model, tariff }, takesAnyFile(candidates, parts)) };
}

/** The turn with limits of output tokens that its model can keep, as far as the catalog knows that. */
function withModelsLimit(turn: TextTurn, model: Model): TextTurn {
  const most = model.topProvider.maxCompletionTokens;
  const lowered = most === 0 ? null : turn.format.lowerLimit(turn.body, most);
  return lowered === null ? turn : { ...turn, body: { ...turn.body, ...lowered.set }, lowered };
}

/** The providers to try for a turn at one model. Throws as `routeOf`. */
export function routeTo(turn: TextTurn, model: Model, parts: TextParts): readonly Candidate[] {
  const { pin, candidates } = routeOf(model, turn, parts);
  if (!turn.cache) return candidates;
  const context = { breaker: parts.breaker, accountId: turn.accountId };
  return usableCandidates(candidatesOfCache(turn.cache, pin, candidates, model.serves), context);
}

/** Vendors of the content format take any file by its address, those of the others a picture for a picture. */
function takesAnyFile(candidates: readonly Candidate[], { providers }: TextParts): boolean {
  return candidates.some(({ provider }) => providers.get(provider)!.text.some(({ format }) => format.takesAnyFile));
}

function joined(options: readonly TextOption[], { accountId }: TextTurn, { breaker }: TextParts): TextOptions {
  const [first] = options;
  if (options.length === 1) return { options, candidates: first.candidates, optionOf: () => first };
  const owners = new Map(options.flatMap((option) => option.candidates.map((each) => [each, option] as const)));
  return {
    options,
    candidates: restingLast([...owners.keys()], { breaker, accountId }),
    optionOf: (candidate) => owners.get(candidate)!,
  };
}
