import { isInBucket } from "../../money/billing/declared/bucket_prefix.ts";
import { accountKey, type AccountRecord } from "../../money/billing/accounts/records.ts";
import type { PriceKey } from "../../money/billing/prices/tariff.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import type { HostedTool } from "../../conversation/contract/hosted_tools.ts";
import type { ContextReference, ReferenceKind } from "../../conversation/contract/context_reference.ts";
import { stateAndToolsIn } from "../../conversation/contract/references.ts";
import type { RequestGrammar } from "../../conversation/contract/request_grammar.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Store } from "../../platform/store/store.ts";
import { allowanceOf, allowsTool, NO_ALLOWANCES } from "../../vendors/upstreams/contract/allowances.ts";
import type { Provider } from "../../vendors/upstreams/contract/provider.ts";
import type { Owner, StateReference } from "./records.ts";
import type { StateOwnership } from "./state_ownership.ts";

/** A model at a provider. */
interface RoutedModel {
  /** The provider's id. */
  readonly provider: string;
  /** The vendor's name of the model. */
  readonly model: string;
}

/** A request that may reference state at vendors. */
export interface StateRequest {
  readonly accountId: string;
  readonly grammar: RequestGrammar;
  readonly body: JsonObject;
  /** As in `TextRequest`. Default: the body is whole. */
  readonly wholeText?: (text: string) => string;
  readonly model: Pick<Model, "id" | "pricing">;
  /**
   * Whether a provider gets the request unchanged. For any other provider it is translated, without ids and hosted
   * tools.
   */
  readonly passesTo: (provider: Provider, candidate: RoutedModel) => boolean;
  /** Whether the gateway itself created an item for the account, so that it can replace the id by the content. */
  readonly hasItem?: (id: string) => boolean;
}

/** The dependencies of the decision. */
export interface StateParts {
  readonly store: Store;
  readonly vendorState: StateOwnership;
  readonly providers: ReadonlyMap<string, Provider>;
}

/** More than the items of any conversation that a vendor continues. Each of them is looked up in the store. */
const MAX_REFERENCES = 5_000;

/**
 * The providers that may get a request, in their order. Every referenced id must belong to the account, and then only
 * the provider that issued it may get the request; or the provider's configuration allows the id. Buckets must be
 * allowed for the account. Hosted tools need a price on the model, or an allowance of the provider; on a model without
 * any price they are free.
 *
 * The result is immediate for a request that names no state and no tool, as most do.
 *
 * @param candidates In the order of routing; at least one.
 * @throws {GatewayError} `not_found` for state that the account does not own, whether or not another account does;
 * `invalid_request` naming the field for everything else that is not allowed.
 */
export function permittedCandidates<C extends RoutedModel>(
  request: StateRequest,
  candidates: readonly C[],
  parts: StateParts,
): MaybePromise<readonly C[]> {
  const { references: named, tools } = stateAndToolsIn(request);
  if (named.length === 0 && tools.length === 0) return candidates;
  const references = named.filter((reference) => !isOpenToAll(request.grammar, reference));
  if (references.length === 0 && tools.length === 0) return candidates;
  const excess = references[MAX_REFERENCES];
  if (excess !== undefined) throw invalidField(excess.field, `expected at most ${MAX_REFERENCES} ids in one request`);
  return candidatesFor(references, tools, { request, candidates, parts });
}

interface Choice<C> {
  readonly request: StateRequest;
  readonly candidates: readonly C[];
  readonly parts: StateParts;
}

async function candidatesFor<C extends RoutedModel>(
  references: readonly ContextReference[],
  tools: readonly HostedTool[],
  { request, candidates, parts }: Choice<C>,
): Promise<readonly C[]> {
  await refuseBuckets(references, request.accountId, parts.store);
  const named = await namedIn(references, parts);
  const routes = candidates.flatMap((candidate) => {
    const provider = parts.providers.get(candidate.provider);
    return provider ? [{ candidate, provider, passes: request.passesTo(provider, candidate) }] : [];
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
  const refusal = refusals.find(({ isElsewhere }) => isElsewhere) ?? refusals[0];
  throw refusal?.error ?? new RangeError("Cannot permit a candidate: expected at least one");
}

/** Why a provider may not get a request. */
interface Refusal {
  readonly error: GatewayError;
  /** Whether another provider may get it. The caller can act on that, so this refusal is reported first. */
  readonly isElsewhere: boolean;
}

/** Public addresses, and cached contents that the gateway has resolved itself. */
function isOpenToAll(grammar: RequestGrammar, { kind, field }: ContextReference): boolean {
  if (kind === "address") return true;
  if (kind !== "cached_content") return false;
  return field === "extra_body.cached_content" || grammar.cacheFields.includes(field);
}

/** A reference, its name in allowances, and its owner if the gateway knows one. */
interface Named {
  readonly reference: ContextReference;
  readonly state: StateReference;
  readonly owner: NamedOwner | null;
}

interface NamedOwner extends Owner {
  /** The provider with the credential that issued the id; undefined if it is no longer configured. */
  readonly issuer: Provider | undefined;
}

/** The kinds of state that replies return, with their names in messages. */
const HANDED_OUT: Partial<Readonly<Record<ReferenceKind, string>>> = {
  response: "response",
  conversation: "conversation",
  thread: "message thread",
  item: "item",
  container: "container",
  file: "file",
  audio: "audio",
};

async function namedIn(
  references: readonly ContextReference[],
  { vendorState, providers }: StateParts,
): Promise<Named[]> {
  const rest = references.filter(({ kind }) => kind !== "bucket");
  const named = rest.map((reference) => ({ reference, state: stateOf(reference) }));
  const states = named.map(({ state }) => state);
  const known = states.some(({ kind }) => HANDED_OUT[kind]) ? await vendorState.owners(states) : [];
  return named.map((each, index) => {
    const owner = known[index];
    return { ...each, owner: owner ? { ...owner, issuer: providers.get(owner.provider) } : null };
  });
}

function stateOf({ kind, id }: ContextReference): StateReference {
  return { kind, id: kind === "file" ? fileNameOf(id) : id.trim() };
}

/** The name of an uploaded file in its address: `files/abc`. */
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

/** Why a provider may not get the unchanged request; null if it may. */
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
  // The gateway created it for the account and replaces the id by the content.
  if (kind === "item" && request.hasItem?.(reference.id)) return null;
  if (owner?.account === request.accountId) {
    if (owner.issuer === provider) return null;
    // Clients of this format start the thread again with the whole conversation.
    if (kind === "thread") return notFound(kind, field);
    const expected = "name a model that this provider serves, and no other provider";
    const error = invalidField(field, `it belongs to the provider "${providerNameOf(owner.provider)}"; ${expected}`);
    return { error, isElsewhere: true };
  }
  if (allowance === "any" && owner === null) return null;
  return HANDED_OUT[kind] ? notFound(kind, field) : notAllowed(kind, field);
}

/** The same message for state of another account and for state that does not exist, so that neither is revealed. */
function notFound(kind: ReferenceKind, field: string): Refusal {
  const message = `Cannot use "${field}": the account has no ${HANDED_OUT[kind]} with this id`;
  const vendorCode = kind === "response" ? "previous_response_not_found" : undefined;
  const reason = kind === "thread" ? { errorCode: "thread_not_found" } : undefined;
  return { error: new GatewayError("not_found", message, { field, vendorCode, reason }), isElsewhere: false };
}

function notAllowed(kind: ReferenceKind, field: string): Refusal {
  const expected = `it is a ${kind.replace("_", " ")} of the operator's vendor account that the provider's ` +
    "allow_references does not include; send the content instead, or ask the operator to allow the asset";
  return { error: invalidField(field, expected), isElsewhere: false };
}

/** Hosted tools with a price key of the same name. */
const PRICED_TOOLS: ReadonlySet<string> = new Set<PriceKey>(["web_search"]);

function refusalOfTools(
  tools: readonly HostedTool[],
  { allows = NO_ALLOWANCES }: Provider,
  { model }: StateRequest,
): Refusal | null {
  // On a model without any price, hosted tools are free.
  if (Object.keys(model.pricing).length === 0) return null;
  const isPriced = (name: string) => PRICED_TOOLS.has(name) && Object.hasOwn(model.pricing, name);
  const refused = tools.find(({ name }) => !isPriced(name) && !allowsTool(allows, name));
  if (refused === undefined) return null;
  const expected =
    `the hosted tool "${refused.name}" has no price on "${model.id}" and is not in the provider's allow_tools`;
  return { error: invalidField(refused.field, expected), isElsewhere: false };
}

/**
 * Why a provider may not get the translated request. Addresses are translated and ids are not, so such a provider is
 * possible only if the gateway has the items itself. If no provider of the format exists, this refuses nothing, and the
 * codec reports what to send instead.
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
