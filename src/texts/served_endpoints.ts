import type { Model } from "../catalog/model.ts";
import { onlyInChat, refusedInChat } from "../conversation/codecs/chat/shared/refused_in_chat.ts";
import { modelFacts } from "../conversation/known_models.ts";
import type { ModelFacts } from "../conversation/model_facts.ts";
import { isObject, listOf } from "../conversation/wire_value.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { type Provider, textEndpointsOf } from "../upstreams/provider.ts";
import type { TextEndpoint } from "../upstreams/upstream.ts";
import type { TextRequest } from "./attempt.ts";

/** A model at one provider. */
export interface ServedAt {
  readonly provider: Provider;
  readonly model: Model;
  /** The vendor's name of the model. */
  readonly name: string;
}

/** Returns what is known of a model at a provider. */
export function factsAt({ provider, model, name }: ServedAt): ModelFacts {
  return modelFacts(name, model, provider);
}

/** Returns the endpoints at which a provider serves a model, preferred first. */
export function endpointsAt(served: ServedAt): readonly TextEndpoint[] {
  const endpoints = textEndpointsOf(served.provider, served.name);
  if (!endpoints.some(({ isReserve }) => isReserve === true)) return endpoints;
  const { chatTools } = factsAt(served);
  return chatTools === "without_reasoning" ? endpoints : endpoints.filter(({ isReserve }) => isReserve !== true);
}

/**
 * Whether a request of the chat format has to leave chat completions, because the model refuses a field of it there:
 * to another endpoint of the provider, or to a rewritten request whose stop sequences the gateway applies. A request
 * that needs what only chat completions has stays, without what is refused.
 */
export function mustLeaveChat(
  { body }: Pick<TextRequest, "body">,
  served: ServedAt,
  endpoints: readonly TextEndpoint[],
): boolean {
  const refused = refusedInChat(body, { facts: factsAt(served), quirks: served.provider.quirks });
  if (refused.length === 0 || onlyInChat(body) !== null) return false;
  return endpoints.some(({ format }) => format.name === "responses") || refused.includes("stop");
}

/**
 * Whether chat completions may refuse a request of another format for a model: it offers tools or stop sequences while
 * the model reasons. The endpoint is chosen before the request is read, so an effort is not looked at.
 */
export function mayBeRefusedInChat(body: JsonObject, served: ServedAt): boolean {
  if (served.provider.quirks.has("reasoning_object")) return false;
  const { chatTools, hasChatStop, canReason } = factsAt(served);
  if (canReason === false) return false;
  return (chatTools === "without_reasoning" && offersTools(body)) || (hasChatStop === false && hasStopSequence(body));
}

function offersTools({ tools }: JsonObject): boolean {
  return isObject(tools) || listOf(tools).length > 0;
}

/** Whether a request of any format names a sequence that ends the reply. */
export function hasStopSequence(body: JsonObject): boolean {
  const inner = [body.generationConfig, body.generation_config].find(isObject) ?? {};
  return [body.stop, body.stop_sequences, inner.stopSequences, inner.stop_sequences].some((stop) =>
    Array.isArray(stop) ? stop.length > 0 : typeof stop === "string"
  );
}
