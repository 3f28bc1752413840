import type { Quantities } from "../billing/tariff.ts";
import { textQuantitiesOf } from "../billing/text_quantities.ts";
import { routeOf, runPaidCall } from "../calls/paid_call.ts";
import type { Settlement } from "../calls/settlement.ts";
import type { Model } from "../catalog/model.ts";
import type { Codec, JsonObject } from "../conversation/codec.ts";
import { refuseLaterWork } from "../conversation/later_work.ts";
import { NO_USAGE } from "../conversation/usage.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";
import { type Candidate, usableCandidates } from "../routing/candidates.ts";
import { TEXT_FALLBACK } from "../routing/fallback_rule.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { TextEndpoint } from "../upstreams/upstream.ts";
import type { TextParts, TextTurn } from "./attempt.ts";
import { candidatesOfCache, failureOfCache } from "./cached_turn.ts";
import { ownEndpointOf, permittedTo } from "./own_endpoint.ts";
import { textModel } from "./text_model.ts";
import { passThrough } from "./pass_through.ts";
import { translate } from "./translate.ts";

/** A turn that was checked: which model, and who is to serve it. */
export interface RoutedTurn {
  readonly model: Model;
  readonly candidates: readonly Candidate[];
}

const USUAL_OUTPUT_TOKENS = 4_096;
const BYTES_PER_TOKEN = 4;
/** What is taken for a model's context where the catalog does not say. */
const USUAL_CONTEXT_TOKENS = 1_000_000;

/** Carries out one turn, end to end: checks, routes, admits, sends, relays, charges. */
export class TextTurns {
  constructor(readonly parts: TextParts) {}

  /**
   * Answers with the model's reply in the caller's form.
   *
   * @throws {GatewayError} Before the first byte; afterwards a failure is an event of the stream.
   */
  async run(turn: TextTurn): Promise<Response> {
    turn.codec.checkRequest(turn.body);
    refuseLaterWork(turn.body);
    const { model, candidates: routed } = this.route(turn);
    const candidates = await permittedTo(turn, model, routed, this.parts);
    const { requestId, accountId, receivedAt } = turn;
    return await runPaidCall({
      facts: { kind: "text", requestId, accountId, receivedAt, model },
      format: turn.codec.name,
      candidates,
      rule: TEXT_FALLBACK,
      estimate: estimateOf(turn, model),
      begin: (settlement) => (candidate) => this.#attempt(turn, model, candidate, settlement).catch(failureIn(turn)),
    }, this.parts);
  }

  /** The model and the providers to try. */
  route(turn: TextTurn): RoutedTurn {
    const model = textModel(this.parts.catalog, turn.model, turn.codec.name);
    refuseBeyondLimit(turn, model);
    const { pin, candidates } = routeOf(model, turn, this.parts);
    if (!turn.cache) return { model, candidates };
    const context = { breaker: this.parts.breaker, accountId: turn.accountId };
    return {
      model,
      candidates: usableCandidates(candidatesOfCache(turn.cache, pin, candidates, model.serves), context),
    };
  }

  #attempt(turn: TextTurn, model: Model, candidate: Candidate, settlement: Settlement): Promise<Response> {
    const provider = this.parts.providers.get(candidate.provider)!;
    const own = ownEndpointOf(turn, provider);
    if (own !== null) {
      return passThrough({ turn, model, candidate, provider, endpoint: own, settlement }, this.parts);
    }
    const endpoint = provider.text.find(({ codec }) => codec === turn.codec) ?? endpointFor(provider, turn);
    return translate({ turn, model, candidate, provider, endpoint, settlement }, this.parts);
  }
}

/** Where a caller of another form is served. A setting that only one of a provider's forms has decides. */
function endpointFor(provider: Provider, turn: TextTurn): TextEndpoint {
  if (provider.text.length > 1 && asksForStop(turn.body)) {
    const chat = provider.text.find(({ codec }) => codec.name === "chat");
    if (chat) return chat;
  }
  const [first] = provider.text;
  if (!first) throw new GatewayError("route_error", `Provider "${provider.name}" does not talk text`);
  return first;
}

function asksForStop(body: JsonObject): boolean {
  const generation = body.generationConfig ?? body.generation_config;
  const inner = typeof generation === "object" && generation !== null ? generation as JsonObject : {};
  return [body.stop, body.stop_sequences, inner.stopSequences, inner.stop_sequences].some((stop) =>
    Array.isArray(stop) ? stop.length > 0 : typeof stop === "string"
  );
}

/** What a failure of an attempt is to be judged and told as. */
function failureIn({ cache }: TextTurn): (error: unknown) => never {
  return (error) => {
    throw cache ? failureOfCache(error, cache) : error;
  };
}

/** Where each form says how long the reply may be. */
const LIMIT_FIELDS: Readonly<Record<Codec["name"], readonly string[]>> = {
  chat: ["max_completion_tokens", "max_tokens"],
  responses: ["max_output_tokens"],
  messages: ["max_tokens"],
  content: ["generationConfig", "generation_config"].flatMap((config) => [
    `${config}.maxOutputTokens`,
    `${config}.max_output_tokens`,
  ]),
};

function requestedLimit(turn: TextTurn): { field: string; tokens: number } | null {
  for (const field of LIMIT_FIELDS[turn.codec.name]) {
    const value = field.split(".").reduce<unknown>(
      (inner, key) => typeof inner === "object" && inner !== null ? (inner as JsonObject)[key] : undefined,
      turn.body,
    );
    if (typeof value === "number") return { field, tokens: value };
  }
  return null;
}

function refuseBeyondLimit(turn: TextTurn, model: Model): void {
  const requested = requestedLimit(turn);
  const most = model.topProvider.maxCompletionTokens;
  if (requested && most > 0 && requested.tokens > most) {
    throw invalidField(requested.field, `expected at most ${most} for "${model.id}", got ${requested.tokens}`);
  }
}

/** What a turn may consume, for the bound on overdrafts: its bytes as prompt, its limit as reply. */
function estimateOf(turn: TextTurn, model: Model): Quantities {
  const most = model.topProvider.maxCompletionTokens || model.contextLength || USUAL_CONTEXT_TOKENS;
  const wanted = requestedLimit(turn)?.tokens ?? USUAL_OUTPUT_TOKENS;
  const outputTokens = Math.floor(Math.min(Math.max(wanted, 0), most));
  const freshTokens = Math.ceil(turn.bytes.length / BYTES_PER_TOKEN);
  return textQuantitiesOf({ ...NO_USAGE, freshTokens, cacheReadTokens: turn.cache?.tokens ?? 0, outputTokens });
}
