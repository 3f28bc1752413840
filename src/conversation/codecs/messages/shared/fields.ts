import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { CacheMark } from "../../../neutral/conversation.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { shortHash } from "../../../parts/request/sanitized_name.ts";

/** Names of dropped fields when a body is written, or of unsupported fields when one is read. */
export type FieldNames = Set<string>;

/** The type of a JSON value, for error messages, which never contain the value itself. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" && !Number.isFinite(value)) return "a number out of range";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A block's cache mark, as a property to spread; empty when it has none. */
export function readCache(block: JsonObject): { cache?: CacheMark } {
  const mark = block.cache_control;
  if (!isObject(mark)) return {};
  return { cache: { ttl: mark.ttl === "1h" || mark.ttl === "5m" ? mark.ttl : null } };
}

/** The inverse of {@linkcode readCache}. */
export function writeCache(cache: CacheMark | undefined): { cache_control?: JsonObject } {
  if (!cache) return {};
  return { cache_control: cache.ttl === null ? { type: "ephemeral" } : { type: "ephemeral", ttl: cache.ttl } };
}

/** Texts that the vendor takes for an email address or a telephone number. No part of a long one is read twice. */
const PERSONAL = /[^\s@]@[^\s@]+\.[^\s@]|^\+?[\d\s().-]{7,}$/;

/**
 * The id of a caller's user as the vendor accepts it: it refuses what identifies a person, with "user_id appears to
 * contain an email address". A hash distinguishes users as well. Source: Messages API reference, `metadata.user_id`;
 * BerriAI/litellm#10106.
 */
export function opaqueUserId(user: string): string {
  return PERSONAL.test(user) ? `user_${shortHash(user, 16)}` : user;
}
