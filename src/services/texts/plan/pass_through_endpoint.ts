import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { permittedCandidates } from "../../ownership/permitted_candidates.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextEndpoint } from "../../../vendors/upstreams/contract/upstream.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { isSameFormat, type TextParts, type TextRequest } from "./attempt.ts";
import { translationEndpointOf } from "./translation_endpoint.ts";
import { offersSearch, searchingCandidates } from "./hosted_search.ts";
import { endpointsAt, mustLeave, type ServedAt } from "./served_endpoints.ts";

/**
 * Returns the endpoint at which a provider receives the request's original bytes. Null if they must be rewritten, or
 * sent to another endpoint because the model refuses them at this one.
 */
export function passThroughEndpointOf(request: TextRequest, served: ServedAt): TextEndpoint | null {
  const endpoints = endpointsAt(served, request);
  const own = endpoints.find((endpoint) =>
    endpoint.passThrough !== null && isSameFormat(request, endpoint) &&
    (endpoint.canPass?.(request.outlineText, served.provider.quirks) ?? true)
  );
  if (own === undefined || request.cache?.kind === "emulated") return null;
  return mustLeave(own, request, served, endpoints) ? null : own;
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
): MaybePromise<readonly Candidate[]> {
  const query = {
    accountId: request.accountId,
    grammar: request.format.grammar,
    body: request.body,
    wholeText: request.wholeText,
    model,
    passesTo: (provider: Provider, { model: name }: Pick<Candidate, "model">) =>
      passThroughEndpointOf(request, { provider, model, name }) !== null,
    hasItem: (id: string) => parts.items.find(request.accountId, id) !== null,
  };
  const permitted = permittedCandidates(query, threadCandidates(request, model, candidates, parts), parts);
  if (!offersSearch(request)) return permitted;
  return chain(permitted, (found) => searchingAmong(found, request, model, parts));
}

function searchingAmong(
  permitted: readonly Candidate[],
  request: TextRequest,
  model: Model,
  parts: TextParts,
): readonly Candidate[] {
  const routes = permitted.map((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    const passes = passThroughEndpointOf(request, { provider, model, name: candidate.model }) !== null;
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
  model: Model,
  candidates: readonly Candidate[],
  parts: TextParts,
): readonly Candidate[] {
  if (!request.format.grammar.isThreaded(request.body)) return candidates;
  const capable = candidates.filter((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    const served = { provider, model, name: candidate.model };
    return passThroughEndpointOf(request, served) !== null && !provider.quirks.has("no_threads");
  });
  if (capable.length > 0) return capable;
  const expected = "none, because the model's vendor does not store conversations; send the whole conversation";
  throw invalidField("thread", expected, {
    reason: { errorCode: "thread_unsupported_request", unsupported: ["thread"] },
  });
}
