import type { Model } from "../../../vendors/catalog/model.ts";
import { modelFacts } from "../../../conversation/models/known_models.ts";
import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import type { FactTarget } from "../../../conversation/contract/upstream_format.ts";
import { isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type Provider, textEndpointsOf } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextEndpoint } from "../../../vendors/upstreams/contract/upstream.ts";
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

/**
 * Returns the endpoints at which a provider serves a model for a request, preferred first. Some models are not served
 * at chat completions by their maker; relays have them there.
 */
export function endpointsAt(
  served: ServedAt,
  request: Pick<TextRequest, "outlineText"> | null,
): readonly TextEndpoint[] {
  const endpoints = textEndpointsOf(served.provider, served.name);
  if (endpoints.length < 2) return endpoints;
  const { chatTools, hasChat } = factsAt(served);
  if (hasChat === false && !served.provider.quirks.has("union_schemas")) {
    const others = endpoints.filter(({ format }) => format.refusals === undefined);
    if (others.length > 0) return others;
  }
  if (!endpoints.some(({ isReserve }) => isReserve === true)) return endpoints;
  // Of models of other makers, whose facts name no tools, chat completions is all that there is.
  const needsReserve = chatTools === "without_reasoning" ||
    (chatTools !== null && served.provider.quirks.has("no_file_parts") && request !== null &&
      mayHoldFile(request));
  return needsReserve ? endpoints : endpoints.filter(({ isReserve }) => isReserve !== true);
}

/**
 * Whether a request cannot be sent to an endpoint of its own format, because the model refuses a field of it there: it
 * goes to another endpoint of the provider, or is rewritten, so that the gateway applies its stop sequences and sends
 * the text of documents. A request that needs what only this format has stays, without what is refused.
 */
export function mustLeave(
  { format: { refusals } }: TextEndpoint,
  { body }: Pick<TextRequest, "body">,
  served: ServedAt,
  endpoints: readonly TextEndpoint[],
): boolean {
  if (refusals === undefined) return false;
  const refused = refusals.refusedFields(body, targetAt(served));
  if (refused.length === 0 || refusals.exclusiveField(body) !== null) return false;
  return refused.some((field) => field === "stop" || field === "file") ||
    endpoints.some(({ format }) => format.refusals === undefined);
}

/**
 * Whether an endpoint may refuse a request of another format, which has tools, documents or stop sequences. The
 * endpoint is chosen before the request is read, so its effort is not known.
 */
export function mayRefuse(
  { format: { refusals } }: TextEndpoint,
  { body, outlineText }: Pick<TextRequest, "body" | "outlineText">,
  served: ServedAt,
): boolean {
  if (refusals === undefined) return false;
  const offered = { tools: offersTools(body), stop: hasStopSequence(body), files: mayHoldFile({ outlineText }) };
  return refusals.mayRefuse(offered, targetAt(served));
}

/** Searches the text for a document of any format, by the type of its part or of its contents. */
function mayHoldFile({ outlineText }: Pick<TextRequest, "outlineText">): boolean {
  return /"(?:input_file|document|file)"|"application\/|"file_?[dD]ata"/.test(outlineText);
}

function targetAt(served: ServedAt): FactTarget {
  return { facts: factsAt(served), quirks: served.provider.quirks };
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
