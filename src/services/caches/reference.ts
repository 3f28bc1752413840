import type { Model } from "../../vendors/catalog/model.ts";
import type { CallerFormat } from "../../conversation/contract/caller_format.ts";
import { bareModelName } from "../../platform/names/bare_model_name.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { modelFacts } from "../../conversation/models/known_models.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { Candidate } from "../../vendors/routing/candidates.ts";
import type { Provider } from "../../vendors/upstreams/contract/provider.ts";
import type { CacheParts } from "./cache_parts.ts";
import { cacheFileOf, type CacheHome, cacheNotFound } from "./cached_content.ts";
import { type OpenPrefix, readPrefix } from "./prefix.ts";
import { readUsableCache } from "./read.ts";

/** A cached content that a request uses, found and authorised. */
export type CacheReference = NativeReference | EmulatedReference;

interface Reference {
  readonly id: string;
  /** The body field that named it, for errors. */
  readonly field: string;
  /** The catalog's id. */
  readonly model: string;
  /** The provider that it belongs to. */
  readonly provider: string;
  /** The number of tokens. */
  readonly tokens: number;
  /** Whether its tokens are billed as input, by the counts of the vendor's implicit cache. Default: they are not. */
  readonly isImplicit?: boolean;
}

/** A cache stored at its provider. */
export interface NativeReference extends Reference {
  readonly kind: "native";
  /** The vendor's name of it. */
  readonly upstreamName: string;
}

/** A cache whose content the gateway stores. */
export interface EmulatedReference extends Reference {
  readonly kind: "emulated";
  /** @throws {GatewayError} `not_found` once it has expired. */
  open(): Promise<OpenPrefix>;
}

/** A cache reference in a request. */
export interface NamedCache {
  /** `cachedContents/<id>`, or any value that the caller sent. */
  readonly name: string;
  /** In the caller's spelling. */
  readonly field: string;
  readonly keyId: string;
  /** The model of the request. */
  readonly model: string;
  readonly format: CallerFormat;
  readonly body: JsonObject;
}

/**
 * Finds the cache of a request. Source: docs/api/caches.md#references.
 *
 * @throws {GatewayError} `not_found`, `permission_denied`; `invalid_request` for a model other than the cache's, and
 * for instructions or tools in the request; `model_not_found`.
 */
export async function resolveReference(parts: CacheParts, named: NamedCache): Promise<CacheReference> {
  const { name, field, keyId, format, body } = named;
  const { value: cache } = await readUsableCache(parts.store, keyId, name, field);
  const caller = { limits: null, receivedAt: parts.store.now() };
  const asked = parts.modelOf(bareModelName(named.model), caller);
  if (asked.id !== cache.model) {
    throw invalidField(field, `it is bound to the model "${cache.model}", and the request names another`);
  }
  refuseOwnSettings(format, body);
  const { id, model, home, tokens } = cache;
  const common = { id, field, model, tokens, provider: home.provider, isImplicit: isImplicit(asked, home, parts) };
  if (home.kind === "native") return { kind: "native", upstreamName: home.upstreamName ?? "", ...common };
  return { kind: "emulated", open: () => open(parts, id, home.headBytes, field), ...common };
}

function isImplicit(model: Model, home: CacheHome, { providers }: CacheParts): boolean {
  const provider = providers.get(home.provider);
  const serving = model.serves.find((each) => each.provider === providerNameOf(home.provider));
  return home.kind === "emulated" && provider !== undefined && serving !== undefined &&
    isCachedImplicitly({ provider, model, serving });
}

async function open({ files }: CacheParts, id: string, headBytes: number, field: string): Promise<OpenPrefix> {
  const file = await files.find(cacheFileOf(id));
  if (file === null) throw cacheNotFound(field);
  return await readPrefix(file, headBytes);
}

function refuseOwnSettings(format: CallerFormat, body: JsonObject): void {
  const field = format.cacheConflict(body);
  if (field !== null) throw besideCache(field);
}

function besideCache(field: string): Error {
  return invalidField(field, "expected none: the cached content has its own instructions and tools");
}

/**
 * The cache that a request of another protocol than content names in `extra_body.cached_content`; null if there is
 * none.
 *
 * @param model The model of the request.
 * @throws {GatewayError} `invalid_request` if it is not text.
 */
export function cacheInExtraBody(
  body: JsonObject,
  format: CallerFormat,
  model: string,
): Omit<NamedCache, "keyId"> | null {
  const { extra_body: extra } = body;
  if (typeof extra !== "object" || extra === null || !("cached_content" in extra)) return null;
  const { cached_content: name } = extra;
  if (name === null || name === undefined) return null;
  const field = "extra_body.cached_content";
  if (typeof name !== "string" || name === "") throw invalidField(field, "expected the name of a cached content");
  return { name, field, model, format, body };
}

/** A model at one provider, which may cache a content. */
export interface CachePlace {
  readonly provider: Provider;
  readonly model: Model;
  readonly serving: Pick<Candidate, "model">;
}

/** Whether the vendor stores contents for the model. Otherwise the gateway does. */
export function isStoredAtVendor(place: CachePlace): boolean {
  return place.provider.capabilities.caches !== undefined && !isCachedImplicitly(place);
}

/**
 * Whether the model has only the cache that its vendor fills by itself. The content is then billed as input of each
 * request, and the create costs nothing.
 */
export function isCachedImplicitly({ provider, model, serving }: CachePlace): boolean {
  return modelFacts(serving.model, model, provider).hasExplicitCaches === false;
}
