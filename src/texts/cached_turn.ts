import type { CacheReference } from "../caches/reference.ts";
import { usageWithCache } from "../caches/hit.ts";
import { continued, type OpenPrefix } from "../caches/prefix.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { ReplyEvent } from "../conversation/events.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";
import type { Candidate } from "../routing/candidates.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import type { TextAttempt } from "./attempt.ts";

/**
 * The providers to try for a turn with a cache: the one that the cache belongs to; behind it, where the gateway has the
 * content itself, the others. Source: docs/api/caches.md#references.
 *
 * @param candidates As routing would try them.
 * @param serving Whoever serves the model.
 * @throws {GatewayError} `invalid_request` for a pin elsewhere; `not_found` when the cache's provider serves the model
 * no more.
 */
export function candidatesOfCache(
  { field, provider, kind }: CacheReference,
  pin: string | null,
  candidates: readonly Candidate[],
  serving: readonly Candidate[],
): readonly Candidate[] {
  if (pin !== null && pin !== provider) {
    throw invalidField(field, `it belongs to the provider "${provider}", and the request is pinned to "${pin}"`);
  }
  const home = serving.filter((candidate) => candidate.provider === provider);
  const others = candidates.filter((candidate) => candidate.provider !== provider);
  if (kind === "emulated" && home.length + others.length > 0) return [...home, ...others];
  if (home.length > 0) return home;
  throw new GatewayError("not_found", "Cannot use the cached content: its provider does not serve the model any more", {
    field,
  });
}

/**
 * The failure of a turn whose vendor does not know its cache any more, as the caller is told it. Such a vendor answers
 * 403 as for a key that it refuses, but the same key made the cache.
 */
export function failureOfCache(error: unknown, cache: CacheReference): unknown {
  const isGone = cache.kind === "native" && error instanceof UpstreamFailure &&
    (error.facts.status === 403 || error.facts.status === 404);
  if (!isGone) return error;
  const message = `Cannot use the cached content: provider "${cache.provider}" does not have it any more`;
  return new GatewayError("not_found", message, { field: cache.field, provider: cache.provider, cause: error });
}

/** The content behind a turn's cache, where the gateway has it; else null. Throws `not_found` once its end has come. */
export async function openPrefixOf({ turn }: TextAttempt): Promise<OpenPrefix | null> {
  return turn.cache?.kind === "emulated" ? await turn.cache.open() : null;
}

/** The turn's conversation behind its cache's content, with the vendor's own sign that the content is to be cached. */
export function behindPrefix(
  conversation: Conversation,
  prefix: OpenPrefix | null,
  { turn, endpoint, provider }: TextAttempt,
): Conversation {
  if (prefix === null) return conversation;
  const hint = endpoint.format.cacheHint(provider.quirks);
  return continued(prefix.conversation, {
    conversation,
    isMarked: hint === "marks",
    isKeyed: hint === "key",
    cacheKey: turn.cache?.id ?? "",
  });
}

/** An event whose usage, if it tells any, is that of a turn with this cache. */
export function eventOfHit(event: ReplyEvent, cache: CacheReference | null | undefined): ReplyEvent {
  if (!cache || (event.type !== "start" && event.type !== "finish") || event.usage === null) return event;
  return { ...event, usage: usageWithCache(event.usage, cache) };
}
