import type { Model } from "../../../vendors/catalog/model.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextEndpoint } from "../../../vendors/upstreams/contract/upstream.ts";
import { isSameFormat, type TextRequest } from "./attempt.ts";
import { canSearch, offersSearch } from "./hosted_search.ts";
import { endpointsAt, hasStopSequence, mayRefuse, mustLeave, type ServedAt } from "./served_endpoints.ts";

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
  const served = { provider, model, name };
  const endpoints = endpointsAt(served, request);
  const sameFormat = endpoints.find((each) =>
    isSameFormat(request, each) && !mustLeave(each, request, served, endpoints)
  );
  if (endpoints.length > 1 && offersSearch(request)) {
    const able = endpoints.filter((endpoint) => canSearch({ model, provider, endpoint, name }));
    const [first] = able;
    if (first !== undefined) return sameFormat && able.includes(sameFormat) ? sameFormat : first;
  }
  return sameFormat ?? endpointFor(served, endpoints, request);
}

/**
 * Returns the endpoint for a caller of another format: the provider's first format, unless the request needs a feature
 * of another one.
 *
 * @throws {GatewayError} `route_error` for a provider without text.
 */
function endpointFor(
  served: ServedAt,
  endpoints: readonly TextEndpoint[],
  request: TextRequest,
): TextEndpoint {
  const [first] = endpoints;
  if (!first) {
    throw new GatewayError("route_error", `Provider "${served.provider.name}" does not support text`, {
      isFinal: true,
    });
  }
  if (endpoints.length === 1) return first;
  const hasAudio = mayHoldAudio(request.outlineText);
  const hasStop = hasStopSequence(request.body);
  const takesMedia = ({ format }: TextEndpoint) => format.takesAudio || !hasAudio;
  const takesTools = (endpoint: TextEndpoint) => takesMedia(endpoint) && !mayRefuse(endpoint, request, served);
  // Without a field for stop sequences in the format, the gateway applies them itself.
  return endpoints.find((endpoint) => takesTools(endpoint) && (endpoint.format.hasStop || !hasStop)) ??
    endpoints.find(takesTools) ?? endpoints.find(takesMedia) ?? first;
}

/** Searches the text for the default protocol's type of audio part, or for a media type. */
function mayHoldAudio(json: string): boolean {
  return /"input_audio"|"audio\//.test(json);
}
