import type { JsonObject } from "../lib/json_object.ts";
import type { Candidate } from "../routing/candidates.ts";
import type { Model } from "../catalog/model.ts";
import { permittedCandidates } from "../ownership/permitted.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { TextEndpoint } from "../upstreams/upstream.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";
import { speakAlike, type TextParts, type TextTurn } from "./attempt.ts";
import { canSearch, offersSearch, searchingCandidates } from "./hosted_search.ts";

/** The endpoint at which a provider gets the turn's own bytes; null where they must be written anew. */
export function ownEndpointOf(turn: TextTurn, provider: Provider): TextEndpoint | null {
  const own = provider.text.find((endpoint) => endpoint.pass !== null && speakAlike(turn, endpoint));
  return own && turn.cache?.kind !== "emulated" ? own : null;
}

/**
 * The candidates that may get a turn, by what it names at vendors and by the hosted tools that it offers.
 *
 * @throws {GatewayError} As {@linkcode permittedCandidates}.
 */
export async function permittedTo(
  turn: TextTurn,
  model: Model,
  candidates: readonly Candidate[],
  parts: TextParts,
): Promise<readonly Candidate[]> {
  const request = {
    accountId: turn.accountId,
    grammar: turn.format.grammar,
    body: turn.body,
    model,
    passesTo: (provider: Provider) => ownEndpointOf(turn, provider) !== null,
    hasItem: (id: string) => parts.items.find(turn.accountId, id) !== null,
  };
  const permitted = await permittedCandidates(request, threadable(turn, candidates, parts), parts);
  if (!offersSearch(turn)) return permitted;
  const routes = permitted.map((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    const passes = ownEndpointOf(turn, provider) !== null;
    return { candidate, provider, endpoint: passes ? null : rewritingEndpointOf(turn, provider, { model, candidate }) };
  });
  return searchingCandidates(turn, model, routes);
}

/** The candidates that can keep a turn's conversation, where it asks for that. */
function threadable(turn: TextTurn, candidates: readonly Candidate[], parts: TextParts): readonly Candidate[] {
  if (!turn.format.grammar.isThreaded(turn.body)) return candidates;
  const able = candidates.filter((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    return ownEndpointOf(turn, provider) !== null && !provider.quirks.has("no_threads");
  });
  if (able.length > 0) return able;
  const expected = "none, as the model's vendor keeps no conversations; send the whole conversation";
  throw invalidField("thread", expected, {
    reason: { errorCode: "thread_unsupported_request", unsupported: ["thread"] },
  });
}

/** What a request is written anew for. */
interface Rewriting {
  readonly model: Model;
  readonly candidate: Pick<Candidate, "model">;
}

/**
 * Where a request is served that must be written anew: in the caller's own format where the provider has it. A search that
 * only one of a provider's formats has decides first.
 */
export function rewritingEndpointOf(
  turn: TextTurn,
  provider: Provider,
  { model, candidate: { model: name } }: Rewriting,
): TextEndpoint {
  const alike = provider.text.find((each) => speakAlike(turn, each));
  if (provider.text.length > 1 && offersSearch(turn)) {
    const able = provider.text.filter((endpoint) => canSearch({ model, provider, endpoint, name }));
    if (able.length > 0) return alike && able.includes(alike) ? alike : able[0];
  }
  return alike ?? endpointFor(provider, turn);
}

/** Where a caller of another format is served. A setting that only one of a provider's formats has decides. */
function endpointFor(provider: Provider, turn: TextTurn): TextEndpoint {
  if (provider.text.length > 1 && asksForStop(turn.body)) {
    const stopping = provider.text.find(({ format }) => format.hasStop);
    if (stopping) return stopping;
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
