import { isInBucket } from "../billing/bucket_prefix.ts";
import { accountKey, type AccountRecord } from "../billing/records.ts";
import type { PriceKey } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import { type HostedTool, hostedToolsIn } from "../conversation/hosted_tools.ts";
import type { ContextReference, ReferenceKind } from "../conversation/context_reference.ts";
import { referencesIn } from "../conversation/references.ts";
import type { RequestGrammar } from "../conversation/request_grammar.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Store } from "../store/store.ts";
import { allowanceOf, allowsTool, NO_ALLOWANCES } from "../upstreams/allowances.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { Owner, StateReference } from "./records.ts";
import type { StateOwnership } from "./state_ownership.ts";

/** A request that may name state at vendors. */
export interface StateRequest {
  readonly accountId: string;
  readonly grammar: RequestGrammar;
  readonly body: JsonObject;
  readonly model: Pick<Model, "id" | "pricing">;
  /**
   * Whether a provider gets the request as it was sent. To any other it is written anew, without ids and hosted tools.
   */
  readonly passesTo: (provider: Provider) => boolean;
  /** Whether the gateway itself made an item for the account, so that it can put it in the place of its id. */
  readonly hasItem?: (id: string) => boolean;
}

/** What permission is decided by. */
export interface StateParts {
  readonly store: Store;
  readonly vendorState: StateOwnership;
  readonly providers: ReadonlyMap<string, Provider>;
}

/**
 * The providers that may get a request, in their order. Every id that it names must belong to the account, and leads to
 * the provider that gave it; or the provider's configuration allows it by name. Buckets must be allowed for the
 * account. Hosted tools need a price on the model, or an allowance of the provider; on a model without any price they
 * are free as well.
 *
 * @param candidates As routing would try them; at least one.
 * @throws {GatewayError} `not_found` for state that the account does not own, alike whether another does;
 * `invalid_request`, naming the field, for whatever else is not allowed.
 */
export async function permittedCandidates<C extends { readonly provider: string }>(
  request: StateRequest,
  candidates: readonly C[],
  parts: StateParts,
): Promise<readonly C[]> {
  const { grammar, body } = request;
  const references = referencesIn(grammar, body).filter((reference) => !isOpenToAll(grammar, reference));
  const tools = hostedToolsIn(grammar, body);
  if (references.length === 0 && tools.length === 0) return candidates;
  await refuseBuckets(references, request.accountId, parts.store);
  const named = await namedIn(references, parts.vendorState);
  const routes = candidates.map((candidate) => {
    const provider = parts.providers.get(candidate.provider)!;
    return { candidate, provider, passes: request.passesTo(provider) };
  });
  const isPassed = routes.some(({ passes }) => passes);
  const refusals: Refusal[] = [];
  const permitted = routes.filter(({ provider, passes }) => {
    const refusal = passes
      ? refusalOfState(named, provider, request) ?? refusalOfTools(tools, provider, request)
      : refusalOfTranslation(named, provider, request, isPassed);
    if (refusal !== null) refusals.push(refusal);
    return refusal === null;
  });
  if (permitted.length > 0) return permitted.map(({ candidate }) => candidate);
  throw (refusals.find(({ isElsewhere }) => isElsewhere) ?? refusals[0]).error;
}

/** Why a provider may not get a request. */
interface Refusal {
  readonly error: GatewayError;
  /** Another provider may: the caller can act on that, and is told it first. */
  readonly isElsewhere: boolean;
}

/** Public addresses, and the cached content that the gateway has resolved for itself. */
function isOpenToAll(grammar: RequestGrammar, { kind, field }: ContextReference): boolean {
  if (kind === "address") return true;
  if (kind !== "cached_content") return false;
  return field === "extra_body.cached_content" || grammar.cacheFields.includes(field);
}

/** A reference, what an allowance calls it, and its owner where the gateway knows one. */
interface Named {
  readonly reference: ContextReference;
  readonly state: StateReference;
  readonly owner: Owner | null;
}

/** Kinds of state that replies hand out, by the word for them in messages. */
const HANDED_OUT: Partial<Readonly<Record<ReferenceKind, string>>> = {
  response: "response",
  conversation: "conversation",
  thread: "message thread",
  item: "item",
  container: "container",
  file: "file",
  audio: "audio",
};

async function namedIn(references: readonly ContextReference[], vendorState: StateOwnership): Promise<Named[]> {
  const rest = references.filter(({ kind }) => kind !== "bucket");
  const states = rest.map(({ kind, id }) => ({ kind, id: kind === "file" ? fileNameOf(id) : id.trim() }));
  const known = states.some(({ kind }) => HANDED_OUT[kind]) ? await vendorState.owners(states) : [];
  return rest.map((reference, index) => ({ reference, state: states[index], owner: known[index] ?? null }));
}

/** The name of an uploaded file within its address: `files/abc`. */
function fileNameOf(id: string): string {
  const text = id.trim();
  if (!URL.canParse(text) || !/^https?:/i.test(text)) return text;
  return /\/(files\/[^/]+)$/.exec(new URL(text).pathname)?.[1] ?? text;
}

async function refuseBuckets(references: readonly ContextReference[], accountId: string, store: Store): Promise<void> {
  const buckets = references.filter(({ kind }) => kind === "bucket");
  if (buckets.length === 0) return;
  const [account] = await store.get<AccountRecord>([accountKey(accountId)]);
  const prefixes = account?.value.allowBuckets ?? [];
  const refused = buckets.find(({ id }) => !isInBucket(id.trim(), prefixes));
  if (refused === undefined) return;
  throw invalidField(
    refused.field,
    "this bucket address is not allowed for the account; send the data or a web address, or ask the operator to add " +
      "the bucket to the account's allow_buckets",
  );
}

/** Why a provider that gets the request as it was sent may not; null when it may. */
function refusalOfState(named: readonly Named[], provider: Provider, request: StateRequest): Refusal | null {
  for (const each of named) {
    const refusal = refusalOf(each, provider, request);
    if (refusal !== null) return refusal;
  }
  return null;
}

function refusalOf({ reference, state, owner }: Named, provider: Provider, request: StateRequest): Refusal | null {
  const { kind, field } = reference;
  const allowance = allowanceOf(provider.allows ?? NO_ALLOWANCES, kind, state.id);
  if (allowance === "exact") return null;
  // The gateway made it for the account and puts it in the place of its id.
  if (kind === "item" && request.hasItem?.(reference.id)) return null;
  if (owner?.account === request.accountId) {
    if (owner.provider === provider.name) return null;
    // Its clients begin the thread anew with the whole conversation.
    if (kind === "thread") return notFound(kind, field);
    const expected = "name a model that this provider serves, and no other provider";
    const error = invalidField(field, `it belongs to the provider "${owner.provider}"; ${expected}`);
    return { error, isElsewhere: true };
  }
  if (allowance === "any" && owner === null) return null;
  return HANDED_OUT[kind] ? notFound(kind, field) : notAllowed(kind, field);
}

/** The same words for what another account owns and for what does not exist, so that nobody learns which. */
function notFound(kind: ReferenceKind, field: string): Refusal {
  const message = `Cannot use "${field}": the account has no ${HANDED_OUT[kind]} with this id`;
  const vendorCode = kind === "response" ? "previous_response_not_found" : undefined;
  const reason = kind === "thread" ? { errorCode: "thread_not_found" } : undefined;
  return { error: new GatewayError("not_found", message, { field, vendorCode, reason }), isElsewhere: false };
}

function notAllowed(kind: ReferenceKind, field: string): Refusal {
  const expected = `it names a ${kind.replace("_", " ")} at the operator's vendor account, which the provider's ` +
    "allow_references does not name; send the content itself, or ask the operator to allow it";
  return { error: invalidField(field, expected), isElsewhere: false };
}

/** Hosted tools that have a price key of their own name. */
const PRICED_TOOLS: ReadonlySet<string> = new Set<PriceKey>(["web_search"]);

function refusalOfTools(
  tools: readonly HostedTool[],
  { allows = NO_ALLOWANCES }: Provider,
  { model }: StateRequest,
): Refusal | null {
  // A model without any price is given away, and its tools with it.
  if (Object.keys(model.pricing).length === 0) return null;
  const isPriced = (name: string) => PRICED_TOOLS.has(name) && Object.hasOwn(model.pricing, name);
  const refused = tools.find(({ name }) => !isPriced(name) && !allowsTool(allows, name));
  if (refused === undefined) return null;
  const expected =
    `the hosted tool "${refused.name}" has no price on "${model.id}" and is not in the provider's allow_tools`;
  return { error: invalidField(refused.field, expected), isElsewhere: false };
}

/**
 * Why a provider that gets the request written anew may not have it. Addresses are written anew and ids are not, so
 * that such a provider helps only where the gateway has the items itself. Without any provider of the format this says
 * nothing: the codec then says what to send instead.
 */
function refusalOfTranslation(
  named: readonly Named[],
  provider: Provider,
  request: StateRequest,
  isPassed: boolean,
): Refusal | null {
  for (const each of named) {
    const { kind, id, field } = each.reference;
    const isAddress = kind === "asset" || (kind === "file" && /^(https?:|files\/)/i.test(id.trim()));
    if (isAddress) {
      const refusal = refusalOf(each, provider, request);
      if (refusal !== null) return refusal;
    } else if (isPassed && !(kind === "item" && request.hasItem?.(id))) {
      return HANDED_OUT[kind] ? notFound(kind, field) : notAllowed(kind, field);
    }
  }
  return null;
}
