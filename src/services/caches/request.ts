import { content, rejectDoubleSpellings } from "../../conversation/codecs/content/mod.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { fieldIn } from "./fields.ts";
import { readExpiry, readNewExpiry } from "./lifetime.ts";

/** A validated create request. */
export interface CacheRequest {
  /** With or without `models/`, as the caller wrote it. */
  readonly modelName: string;
  /** `contents`, and if given `systemInstruction`, `tools` and `toolConfig`, in these spellings. */
  readonly content: JsonObject;
  readonly displayName: string | null;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const CONTENT_FIELDS = ["contents", "systemInstruction", "tools", "toolConfig"] as const;
const MAX_DISPLAY_NAME_CHARACTERS = 128;
const MAX_MODEL_NAME_CHARACTERS = 256;

/**
 * Reads the body of a create; unknown keys are ignored. Source: docs/api/caches.md#resource.
 *
 * @param now Unix milliseconds.
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readCacheRequest(body: JsonObject, now: number): CacheRequest {
  rejectDoubleSpellings(body);
  const modelName = fieldIn(body, "model")?.value;
  if (typeof modelName !== "string" || modelName === "" || modelName.length > MAX_MODEL_NAME_CHARACTERS) {
    throw invalidField("model", "expected the name of a model");
  }
  const expiresAt = readNewExpiry(body, now);
  const displayName = readDisplayName(body);
  return { modelName, content: readContent(body), displayName, expiresAt };
}

function readDisplayName(body: JsonObject): string | null {
  const sent = fieldIn(body, "displayName");
  if (sent === null) return null;
  const { value, spelling } = sent;
  if (
    typeof value === "string" &&
    [...value.slice(0, 2 * MAX_DISPLAY_NAME_CHARACTERS + 1)].length <= MAX_DISPLAY_NAME_CHARACTERS
  ) {
    return value === "" ? null : value;
  }
  throw invalidField(spelling, `expected text of at most ${MAX_DISPLAY_NAME_CHARACTERS} characters`);
}

function readContent(body: JsonObject): JsonObject {
  const sent = CONTENT_FIELDS.flatMap((name) => {
    const found = fieldIn(body, name);
    return found === null ? [] : [{ name, ...found }];
  });
  // Checked in the caller's spelling, so that messages name the sent field.
  content.caller.check(Object.fromEntries(sent.map(({ spelling, value }) => [spelling, value])));
  return Object.fromEntries(sent.map(({ name, value }) => [name, value]));
}

/** Fields that cannot be changed. Source: docs/api/caches.md#resource; Gemini API reference, "Caching". */
const IMMUTABLE = ["model", "displayName", ...CONTENT_FIELDS] as const;

/**
 * Reads the body of a patch: the new expiry of a cache.
 *
 * @param updateMask The changed fields by the query; null if it has none.
 * @param now Unix milliseconds.
 * @returns Unix milliseconds.
 * @throws {GatewayError} `invalid_request`, naming the field: an immutable one, or a missing expiry.
 */
export function readCachePatch(body: JsonObject, updateMask: string | null, now: number): number {
  rejectDoubleSpellings(body);
  for (const name of IMMUTABLE) {
    const sent = fieldIn(body, name);
    if (sent !== null) throw immutable(sent.spelling);
  }
  for (const path of updateMask?.split(",") ?? []) {
    if (!["ttl", "expireTime", "expire_time", "*"].includes(path.trim())) {
      throw invalidField("updateMask", `expected "ttl" or "expireTime", the only fields that can change`);
    }
  }
  const expiresAt = readExpiry(body, now);
  if (expiresAt === null) throw invalidField("ttl", "expected ttl or expireTime");
  return expiresAt;
}

function immutable(field: string): Error {
  return invalidField(field, "expected none: it is immutable");
}
