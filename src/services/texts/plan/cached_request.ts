import type { CacheReference } from "../../caches/reference.ts";
import { usageWithCache } from "../../caches/hit.ts";
import { joinPrefix, type OpenPrefix } from "../../caches/prefix.ts";
import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { providerNameOf } from "../../../platform/names/provider_name.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { TextAttempt } from "./attempt.ts";

/**
 * Returns the providers to try for a request with a cache. The provider of the cache comes first; the others follow if
 * the gateway keeps the content itself. Source: docs/api/caches.md#references.
 *
 * @param candidates In the order of routing.
 * @param serving All providers of the model.
 * @throws {GatewayError} `invalid_request` for a pin to another provider; `not_found` if the cache's provider no longer
 * serves the model.
 */
export function candidatesOfCache(
  { field, provider, kind }: CacheReference,
  pin: string | null,
  candidates: readonly Candidate[],
  serving: readonly Candidate[],
): readonly Candidate[] {
  const name = providerNameOf(provider);
  if (pin !== null && pin !== name) {
    throw invalidField(field, `it belongs to the provider "${name}", and the request is pinned to "${pin}"`);
  }
  const home = serving.flatMap((candidate) => candidate.provider === name ? { ...candidate, provider } : []);
  const others = candidates.filter((candidate) => candidate.provider !== provider);
  if (kind === "emulated" && home.length + others.length > 0) return [...home, ...others];
  if (home.length > 0) return home;
  throw new GatewayError("not_found", "Cannot use the cached content: its provider no longer serves the model", {
    field,
  });
}

/**
 * Returns the error that the caller receives if the vendor no longer has the cache. Such a vendor returns 403, as for a
 * rejected key, but the same key created the cache.
 */
export function errorOfCache(error: unknown, cache: CacheReference): unknown {
  const isGone = cache.kind === "native" && error instanceof UpstreamFailure &&
    (error.facts.status === 403 || error.facts.status === 404);
  if (!isGone) return error;
  const provider = providerNameOf(cache.provider);
  const message = `Cannot use the cached content: provider "${provider}" no longer has it`;
  return new GatewayError("not_found", message, { field: cache.field, provider, cause: error });
}

/**
 * Returns the content of a request's cache if the gateway keeps it, else null. Throws `not_found` after the cache has
 * expired.
 */
export async function openPrefixOf({ request }: TextAttempt): Promise<OpenPrefix | null> {
  return request.cache?.kind === "emulated" ? await request.cache.open() : null;
}

/**
 * Returns the conversation of the request after the content of its cache, with the vendor's own marker that the content
 * is to be cached.
 */
export function withPrefix(
  conversation: Conversation,
  prefix: OpenPrefix | null,
  { request, endpoint, provider }: TextAttempt,
): Conversation {
  if (prefix === null) return conversation;
  const hint = endpoint.format.cacheHint(provider.quirks);
  return joinPrefix(prefix.conversation, {
    conversation,
    isMarked: hint === "marks",
    isKeyed: hint === "key",
    cacheKey: request.cache?.id ?? "",
  });
}

/** Returns the event. Its usage, if it has one, becomes that of a request with this cache. */
export function eventWithCache(event: ReplyEvent, cache: CacheReference | null | undefined): ReplyEvent {
  if (!cache || (event.type !== "start" && event.type !== "finish") || event.usage === null) return event;
  return { ...event, usage: usageWithCache(event.usage, cache) };
}
