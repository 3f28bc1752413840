import type { Model } from "../catalog/model.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Candidate } from "../routing/candidates.ts";
import { type Provider, textEndpointsOf } from "../upstreams/provider.ts";
import type { TextEndpoint } from "../upstreams/upstream.ts";
import { isSameFormat, type TextRequest } from "./attempt.ts";
import { canSearch, offersSearch } from "./hosted_search.ts";

/** What a request is rewritten for. */
interface TranslationContext {
  readonly model: Model;
  readonly candidate: Pick<Candidate, "model">;
}

/**
 * Returns the endpoint of a request that must be rewritten. The caller's own format is preferred if the provider has
 * it. A search that only one of a provider's formats supports takes precedence.
 */
export function translationEndpointOf(
  request: TextRequest,
  provider: Provider,
  { model, candidate: { model: name } }: TranslationContext,
): TextEndpoint {
  const endpoints = textEndpointsOf(provider, name);
  const sameFormat = endpoints.find((each) => isSameFormat(request, each));
  if (endpoints.length > 1 && offersSearch(request)) {
    const able = endpoints.filter((endpoint) => canSearch({ model, provider, endpoint, name }));
    const [first] = able;
    if (first !== undefined) return sameFormat && able.includes(sameFormat) ? sameFormat : first;
  }
  return sameFormat ?? endpointFor(provider, endpoints, request);
}

/**
 * Returns the endpoint for a caller of another format: the provider's first format, unless the request needs a feature
 * of another one.
 *
 * @throws {GatewayError} `route_error` for a provider without text.
 */
function endpointFor(
  provider: Provider,
  endpoints: readonly TextEndpoint[],
  request: TextRequest,
): TextEndpoint {
  const [first] = endpoints;
  if (!first) throw new GatewayError("route_error", `Provider "${provider.name}" does not support text`);
  if (endpoints.length === 1) return first;
  const hasStop = hasStopSequence(request.body);
  const hasAudio = mayHoldAudio(request.outlineText);
  return endpoints.find(({ format }) => (format.hasStop || !hasStop) && (format.takesAudio || !hasAudio)) ?? first;
}

function hasStopSequence(body: JsonObject): boolean {
  const generation = body.generationConfig ?? body.generation_config;
  const inner = typeof generation === "object" && generation !== null ? generation as JsonObject : {};
  return [body.stop, body.stop_sequences, inner.stopSequences, inner.stop_sequences].some((stop) =>
    Array.isArray(stop) ? stop.length > 0 : typeof stop === "string"
  );
}

/** Searches the text for the default protocol's type of audio part, or for a media type. */
function mayHoldAudio(json: string): boolean {
  return /"input_audio"|"audio\//.test(json);
}
