import type { Candidate } from "../routing/candidates.ts";
import type { Model } from "../catalog/model.ts";
import { permittedCandidates } from "../ownership/permitted_candidates.ts";
import { type Provider, textEndpointsOf } from "../upstreams/provider.ts";
import type { TextEndpoint } from "../upstreams/upstream.ts";
import { invalidField } from "../lib/gateway_error.ts";
import { isSameFormat, type TextParts, type TextRequest } from "./attempt.ts";
import { translationEndpointOf } from "./translation_endpoint.ts";
import { offersSearch, searchingCandidates } from "./hosted_search.ts";

/**
 * Returns the endpoint at which a provider receives the request's original bytes. Null if they must be rewritten.
 *
 * @param candidate Contains the vendor's name of the model.
 */
export function passThroughEndpointOf(
  request: TextRequest,
  provider: Provider,
  { model }: Pick<Candidate, "model">,
): TextEndpoint | null {
  const own = textEndpointsOf(provider, model).find((endpoint) =>
    endpoint.passThrough !== null && isSameFormat(request, endpoint) &&
    (endpoint.canPass?.(request.outlineText) ?? true)
  );
  return own && request.cache?.kind !== "emulated" ? own : null;
}

/**
 * Returns the candidates that may receive a request, by the vendor state that it names and the hosted tools that it
 * offers.
 *
 * @throws {GatewayError} As {@linkcode permittedCandidates}.
 */
export function candidatesPermittedFor(
  request: TextRequest,
  model: Model,
  candidates: readonly Candidate[],
  parts: TextParts,
): readonly Candidate[] | Promise<readonly Candidate[]> {
  const query = {
    accountId: request.accountId,
    grammar: request.format.grammar,
    body: request.body,
    wholeText: request.wholeText,
    model,
    passesTo: (provider: Provider, { model }: Pick<Candidate, "model">) =>
      passThroughEndpointOf(request, provider, { model }) !== null,
    hasItem: (id: string) => parts.items.find(request.accountId, id) !== null,
  };
  const permitted = permittedCandidates(query, threadCandidates(request, candidates, parts), parts);
  if (!offersSearch(request)) return permitted;
  const ableToSearch = (found: readonly Candidate[]) => searchingAmong(found, request, model, parts);
  return permitted instanceof Promise ? permitted.then(ableToSearch) : ableToSearch(permitted);
}

function searchingAmong(
  permitted: readonly Candidate[],
  request: TextRequest,
  model: Model,
  parts: TextParts,
): readonly Candidate[] {
  const routes = permitted.map((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    const passes = passThroughEndpointOf(request, provider, candidate) !== null;
    return {
      candidate,
      provider,
      endpoint: passes ? null : translationEndpointOf(request, provider, { model, candidate }),
    };
  });
  return searchingCandidates(request, model, routes);
}

/** Returns the candidates that can store a request's conversation, if the request requires it. */
function threadCandidates(
  request: TextRequest,
  candidates: readonly Candidate[],
  parts: TextParts,
): readonly Candidate[] {
  if (!request.format.grammar.isThreaded(request.body)) return candidates;
  const capable = candidates.filter((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    return passThroughEndpointOf(request, provider, candidate) !== null && !provider.quirks.has("no_threads");
  });
  if (capable.length > 0) return capable;
  const expected = "none, because the model's vendor does not store conversations; send the whole conversation";
  throw invalidField("thread", expected, {
    reason: { errorCode: "thread_unsupported_request", unsupported: ["thread"] },
  });
}
