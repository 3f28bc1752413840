import type { Model } from "../../../vendors/catalog/model.ts";
import { isSearchNeeded, searchUnavailable } from "../../../conversation/parts/request/offered_search.ts";
import { isAbsent, isObject, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { allowsTool, NO_ALLOWANCES } from "../../../vendors/upstreams/contract/allowances.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextEndpoint } from "../../../vendors/upstreams/contract/upstream.ts";
import type { TextRequest } from "./attempt.ts";

const SEARCH = "web_search";

/** Where a request with a search can be sent. */
interface SearchRoute {
  readonly model: Pick<Model, "pricing">;
  readonly provider: Provider;
  readonly endpoint: Pick<TextEndpoint, "format">;
  /** The vendor's name of the model. */
  readonly name: string;
}

/**
 * Whether a rewritten request may include the vendor's search. The search needs a price on the model or an allowance of
 * the provider, as in a passed-through request. For a vendor with the quirk `no_web_search`, the operator must declare
 * it with a price or with its name in `allow_tools`.
 */
export function canSearch({ model, provider, endpoint, name }: SearchRoute): boolean {
  const { allows = NO_ALLOWANCES, quirks } = provider;
  const isPriced = Object.hasOwn(model.pricing, SEARCH);
  if (quirks.has("no_web_search")) return isPriced || allows.tools.includes(SEARCH);
  const isFree = Object.keys(model.pricing).length === 0;
  return (isPriced || isFree || allowsTool(allows, SEARCH)) && endpoint.format.hasWebSearch(name);
}

/** How one candidate would serve a request. */
export interface CandidateRoute<C> {
  readonly candidate: C;
  readonly provider: Provider;
  /** The endpoint of the rewritten request. Null if its bytes pass through. */
  readonly endpoint: TextEndpoint | null;
}

/** The fields of a request that can offer a search. */
type SearchRequest = Pick<TextRequest, "format" | "body" | "wholeBody">;

/** Whether a request offers a search. */
export function offersSearch({ format, body }: SearchRequest): boolean {
  if (!isAbsent(body.web_search_options) || holdsSearch(body.tools, format)) return true;
  // Items of one format's input add tools.
  return Array.isArray(body.input) && objectsOf(body.input).some(({ tools }) => holdsSearch(tools, format));
}

function holdsSearch(tools: unknown, { grammar }: SearchRequest["format"]): boolean {
  if (isAbsent(tools)) return false;
  return (isObject(tools) ? [tools] : objectsOf(tools)).some((tool) => grammar.hostedToolNames(tool).includes(SEARCH));
}

/**
 * Returns the candidates, without those that cannot search if the request requires a search. Candidates that receive
 * the original bytes were checked before.
 *
 * @throws {GatewayError} `invalid_request` that names the tool, if none is left.
 */
export function searchingCandidates<C extends Candidate>(
  request: SearchRequest,
  model: Model,
  routes: readonly CandidateRoute<C>[],
): readonly C[] {
  const all = routes.map(({ candidate }) => candidate);
  if (routes.every(({ endpoint }) => endpoint === null)) return all;
  const conversation = readOrNull(request);
  if (conversation === null || !isSearchNeeded(conversation)) return all;
  const able = routes.filter(({ candidate, provider, endpoint }) =>
    endpoint === null || canSearch({ model, provider, endpoint, name: candidate.model })
  );
  if (able.length === 0) throw searchUnavailable(conversation.webSearch!);
  return able.map(({ candidate }) => candidate);
}

/** A request that cannot be parsed for another format is rejected by the attempt that needs it parsed. */
function readOrNull({ format, wholeBody }: SearchRequest): Conversation | null {
  try {
    return format.read(wholeBody());
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}
