import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { fieldIn } from "./fields.ts";

/** Seconds. Source: docs/api/caches.md#lifetime. */
const MIN_SECONDS = 600;
/** Seconds. Source: docs/api/caches.md#lifetime. */
const MAX_SECONDS = 3_600;
/**
 * The time that a request may take to arrive, so that an expiry of ten minutes by the client's clock is not rejected.
 */
const TRANSIT_MS = 1_000;

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * The requested expiry: `ttl` from now, or `expireTime`; null if neither is given. Source: docs/api/caches.md#lifetime.
 *
 * @param now Unix milliseconds.
 * @returns Unix milliseconds.
 * @throws {GatewayError} `invalid_request`: both are given, the format is invalid, or the time is not 600 to 3600
 * seconds from now.
 */
export function readExpiry(body: JsonObject, now: number): number | null {
  const ttl = fieldIn(body, "ttl");
  const expireTime = fieldIn(body, "expireTime");
  if (ttl !== null && expireTime !== null) {
    throw invalidField(ttl.spelling, `expected either ttl or ${expireTime.spelling}, got both`);
  }
  if (ttl !== null) return now + readTtlSeconds(ttl.value, ttl.spelling) * 1000;
  return expireTime === null ? null : readExpireTime(expireTime.value, expireTime.spelling, now);
}

/** The expiry of a new cache: as {@linkcode readExpiry}, or ten minutes by default. Throws the same. */
export function readNewExpiry(body: JsonObject, now: number): number {
  return readExpiry(body, now) ?? now + MIN_SECONDS * 1000;
}

/** The requested expiry, limited by the maximum life of a cache. All in Unix milliseconds. */
export function limitExpiry(maxLifeMs: number | null, createdAt: number, expiresAt: number): number {
  return maxLifeMs === null ? expiresAt : Math.min(expiresAt, createdAt + maxLifeMs);
}

function readTtlSeconds(value: unknown, field: string): number {
  const digits = typeof value === "string" ? /^(\d{1,9})s$/.exec(value)?.[1] : undefined;
  const seconds = Number(digits ?? NaN);
  if (seconds >= MIN_SECONDS && seconds <= MAX_SECONDS) return seconds;
  throw invalidField(field, `expected whole seconds from "${MIN_SECONDS}s" to "${MAX_SECONDS}s"`);
}

function readExpireTime(value: unknown, field: string, now: number): number {
  const at = typeof value === "string" && RFC_3339.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(at)) throw invalidField(field, "expected an RFC 3339 timestamp with a zone");
  if (at <= now) throw invalidField(field, "expected a future time, got a past one");
  const spanMs = at - now;
  if (spanMs >= MIN_SECONDS * 1000 - TRANSIT_MS && spanMs <= MAX_SECONDS * 1000) return at;
  throw invalidField(field, `expected a time ${MIN_SECONDS} to ${MAX_SECONDS} seconds from now`);
}
