import type { Candidate } from "../routing/candidates.ts";
import type { Model } from "../catalog/model.ts";
import { permittedCandidates } from "../ownership/permitted_candidates.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { TextEndpoint } from "../upstreams/upstream.ts";
import { invalidField } from "../lib/gateway_error.ts";
import { isSameFormat, type TextParts, type TextRequest } from "./attempt.ts";
import { translationEndpointOf } from "./translation_endpoint.ts";
import { offersSearch, searchingCandidates } from "./hosted_search.ts";

/** Returns the endpoint at which a provider receives the request's original bytes. Null if they must be rewritten. */
export function passThroughEndpointOf(turn: TextRequest, provider: Provider): TextEndpoint | null {
  const own = provider.text.find((endpoint) => endpoint.passThrough !== null && isSameFormat(turn, endpoint));
  return own && turn.cache?.kind !== "emulated" ? own : null;
}

/**
 * Returns the candidates that may receive a request, by the vendor state that it names and the hosted tools that it
 * offers.
 *
 * @throws {GatewayError} As {@linkcode permittedCandidates}.
 */
export async function candidatesPermittedFor(
  turn: TextRequest,
  model: Model,
  candidates: readonly Candidate[],
  parts: TextParts,
): Promise<readonly Candidate[]> {
  const request = {
    accountId: turn.accountId,
    grammar: turn.format.grammar,
    body: turn.body,
    model,
    passesTo: (provider: Provider) => passThroughEndpointOf(turn, provider) !== null,
    hasItem: (id: string) => parts.items.find(turn.accountId, id) !== null,
  };
  const permitted = await permittedCandidates(request, threadable(turn, candidates, parts), parts);
  if (!offersSearch(turn)) return permitted;
  const routes = permitted.map((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    const passes = passThroughEndpointOf(turn, provider) !== null;
    return {
      candidate,
      provider,
      endpoint: passes ? null : translationEndpointOf(turn, provider, { model, candidate }),
    };
  });
  return searchingCandidates(turn, model, routes);
}

/** Returns the candidates that can store a request's conversation, if the request requires it. */
function threadable(turn: TextRequest, candidates: readonly Candidate[], parts: TextParts): readonly Candidate[] {
  if (!turn.format.grammar.isThreaded(turn.body)) return candidates;
  const able = candidates.filter((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    return passThroughEndpointOf(turn, provider) !== null && !provider.quirks.has("no_threads");
  });
  if (able.length > 0) return able;
  const expected = "none, as the model's vendor keeps no conversations; send the whole conversation";
  throw invalidField("thread", expected, {
    reason: { errorCode: "thread_unsupported_request", unsupported: ["thread"] },
  });
}
