import { readRequest } from "../../../conversation/codecs/content/caller/read_request.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { bodyOf, type Call, isMissingModel, jsonResponse } from "../../call.ts";
import { readWith } from "../../generate.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { promptTokensIn, segmentsOf } from "../../tokens.ts";
import type { SimulatedVendors } from "../../simulated_vendors.ts";
import { fieldOf } from "./google_fields.ts";
import { checkCached } from "./google_rules.ts";

/** Cached content as the vendor stores it, with the key that created it. */
export interface KeptContent {
  readonly name: string;
  readonly key: string;
  /** With `models/`. */
  readonly model: string;
  readonly displayName: string;
  /** `contents`, `systemInstruction`, `tools`, `toolConfig`. */
  readonly content: JsonObject;
  readonly tokens: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

const CACHES = new WeakMap<SimulatedVendors, Map<string, KeptContent>>();
const DEFAULT_TTL_MS = 3_600_000;
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;
/** The minimum for models named Gemini. Other models accept any size. */
const MIN_TOKENS = 1_024;

/**
 * Handles `cachedContents` and the paths below it. Source: Gemini API reference, "Caching"; the vendor's error
 * messages.
 */
export function cachedContents(call: Call, rest: string): Response {
  const id = rest.split("/")[1];
  switch (`${call.method} ${id === undefined ? "all" : "one"}`) {
    case "POST all":
      return create(call);
    case "GET all":
      return list(call);
    case "GET one":
      return jsonResponse(resourceOf(find(call, rest)));
    case "PATCH one":
      return patch(call, rest);
    case "DELETE one":
      cachesOf(call).delete(find(call, rest).name);
      return jsonResponse({});
  }
  throw new SimulatedError(404, "The requested URL was not found on this server.");
}

/**
 * Returns the cached content that a request names, or null if it names none.
 *
 * @throws {SimulatedError} 403 for an unknown or expired one, or one of another key; 400 for one of another model.
 */
export function namedCache(call: Call, body: JsonObject, model: string): KeptContent | null {
  const name = fieldOf(body, "cachedContent");
  if (name === undefined) return null;
  const cache = find(call, String(name));
  if (cache.model === `models/${model}`) return cache;
  throw new SimulatedError(
    400,
    `Model used by GenerateContent request (models/${model}) and CachedContent (${cache.model}) has to be the same.`,
  );
}

function cachesOf({ vendors }: Call): Map<string, KeptContent> {
  const caches = CACHES.get(vendors) ?? new Map<string, KeptContent>();
  CACHES.set(vendors, caches);
  return caches;
}

function keyOf({ headers, query }: Call): string {
  return headers.get("x-goog-api-key") ?? query.get("key") ?? "";
}

function find(call: Call, name: string): KeptContent {
  const cache = cachesOf(call).get(name);
  if (cache && cache.key === keyOf(call) && cache.expiresAt > call.vendors.clock.now()) return cache;
  throw new SimulatedError(403, "CachedContent not found (or permission denied)");
}

function create(call: Call): Response {
  const body = bodyOf(call, "Invalid JSON payload received. Expected a JSON object.");
  const model = typeof body.model === "string" ? /^models\/(.+)$/.exec(body.model)?.[1] : undefined;
  if (body.model === undefined) throw fault("model", "model is required.");
  if (model === undefined) throw fault("model", "unexpected model name format");
  checkCached(body, model);
  if (isMissingModel(model)) throw new SimulatedError(404, `models/${model} is not found for API version v1beta.`);
  const now = call.vendors.clock.now();
  const { model: _model, ttl: _ttl, ...rest } = body;
  const { expireTime: _camel, expire_time: _snake, displayName, display_name, ...content } = rest;
  const conversation = readWith(readRequest, { ...content, model });
  const tokens = promptTokensIn(segmentsOf(conversation));
  if (model.includes("gemini") && tokens < MIN_TOKENS) {
    throw new SimulatedError(
      400,
      `Cached content is too small. total_token_count=${tokens}, min_total_token_count=${MIN_TOKENS}`,
    );
  }
  const cache: KeptContent = {
    name: `cachedContents/${call.vendors.nextId()}`,
    key: keyOf(call),
    model: `models/${model}`,
    displayName: displayNameIn(displayName ?? display_name),
    content,
    tokens,
    createdAt: now,
    updatedAt: now,
    expiresAt: expiryIn(body, now) ?? now + DEFAULT_TTL_MS,
  };
  cachesOf(call).set(cache.name, cache);
  return jsonResponse(resourceOf(cache));
}

function displayNameIn(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string" && value.length <= 128) return value;
  throw fault("display_name", "must be at most 128 characters.");
}

function expiryIn(body: JsonObject, now: number): number | null {
  const ttl = body.ttl ?? undefined;
  const expireTime = fieldOf(body, "expireTime");
  if (ttl !== undefined && expireTime !== undefined) {
    throw new SimulatedError(
      400,
      "Invalid value at 'cached_content' (oneof), oneof field 'expiration' is already set. Cannot set 'ttl'",
    );
  }
  const at = ttl === undefined ? expireTimeIn(expireTime) : now + secondsIn(ttl) * 1000;
  if (at !== null && at <= now) throw fault("expire_time", "must be in the future.");
  return at;
}

function secondsIn(ttl: unknown): number {
  const seconds = /^(\d+(?:\.\d{1,9})?)s$/.exec(String(ttl))?.[1];
  if (seconds === undefined) {
    throw new SimulatedError(
      400,
      "Invalid value at 'cached_content.ttl' (type.googleapis.com/google.protobuf.Duration)",
    );
  }
  return Number(seconds);
}

function expireTimeIn(value: unknown): number | null {
  if (value === undefined) return null;
  const at = /(Z|[+-]\d\d:\d\d)$/i.test(String(value)) ? Date.parse(String(value)) : NaN;
  if (!Number.isNaN(at)) return at;
  throw new SimulatedError(
    400,
    "Invalid value at 'cached_content.expire_time' (type.googleapis.com/google.protobuf.Timestamp)",
  );
}

function list(call: Call): Response {
  const now = call.vendors.clock.now();
  const own = [...cachesOf(call).values()].filter(({ key, expiresAt }) => key === keyOf(call) && expiresAt > now);
  const start = Number(call.query.get("pageToken") ?? 0);
  const size = Math.min(Number(call.query.get("pageSize") ?? 0) || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const cachedContents = own.slice(start, start + size).map(resourceOf);
  const next = start + size < own.length ? { nextPageToken: String(start + size) } : {};
  return jsonResponse(cachedContents.length === 0 ? next : { cachedContents, ...next });
}

/** Only the expiry can be changed. Any other field in the mask, or in the body without a mask, is rejected. */
function patch(call: Call, name: string): Response {
  const cache = find(call, name);
  const body = bodyOf(call, "Invalid JSON payload received. Expected a JSON object.");
  const mask = call.query.get("updateMask");
  const changed = mask === null ? Object.keys(body) : mask.split(",");
  const other = changed.find((field) => !["ttl", "expireTime", "expire_time"].includes(field));
  if (other !== undefined) throw fault("update_mask", `${other} is immutable.`);
  const now = call.vendors.clock.now();
  const expiresAt = expiryIn(body, now);
  if (expiresAt === null) throw fault("update_mask", "either ttl or expire_time must be set.");
  cache.expiresAt = expiresAt;
  cache.updatedAt = now;
  return jsonResponse(resourceOf(cache));
}

function resourceOf({ name, model, displayName, tokens, createdAt, updatedAt, expiresAt }: KeptContent): JsonObject {
  return {
    name,
    model,
    ...(displayName === "" ? {} : { displayName }),
    createTime: timeOf(createdAt),
    updateTime: timeOf(updatedAt),
    expireTime: timeOf(expiresAt),
    usageMetadata: { totalTokenCount: tokens },
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function fault(field: string, message: string): SimulatedError {
  return new SimulatedError(400, `* CreateCachedContentRequest.cached_content.${field}: ${message}\n`);
}
