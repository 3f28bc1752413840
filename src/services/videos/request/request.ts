import {
  VIDEO_RATIOS,
  VIDEO_RESOLUTIONS,
  type VideoResolution,
} from "../../../vendors/catalog/sections/media_sections.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { readProviderPin } from "../../../vendors/routing/pin.ts";
import { readMetadata } from "./metadata.ts";
import { readSentOptions } from "./provider_options.ts";
import { readReferences, type SentReferences } from "./references.ts";

/** A valid create request; model limits are checked later. */
export interface VideoRequest extends SentReferences {
  readonly model: string;
  readonly prompt: string;
  /** -1 if the vendor decides. */
  readonly durationSeconds: number | null;
  readonly resolution: VideoResolution | null;
  readonly aspectRatio: string | null;
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly realPerson: boolean;
  readonly generateAudio: boolean | null;
  readonly seed: number | null;
  readonly callbackUrl: string | null;
  /** The caller's metadata; null if there is none. */
  readonly metadata: Readonly<Record<string, string>> | null;
  /** The requested provider; null for any. */
  readonly pin: string | null;
  /** As sent; see {@linkcode optionsByProvider}. */
  readonly options: JsonObject;
}

/** The fields of a create request that are read. */
export const VIDEO_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "duration",
  "resolution",
  "aspect_ratio",
  "size",
  "frame_images",
  "input_references",
  "input_reference",
  "real_person",
  "generate_audio",
  "seed",
  "callback_url",
  "metadata",
  "provider",
]);

/** In UTF-16 code units, as in JavaScript. */
const MAX_PROMPT_CHARACTERS = 10_000;
const MAX_SECONDS = 3_600;
const PIXELS = { min: 64, max: 8_192 };
/** Slightly more than 21:9. */
const MAX_ASPECT_RATIO = 2.5;

/**
 * Parses the body of a create request. Unknown fields are ignored; null counts as not sent.
 *
 * @throws {GatewayError} For the first invalid field. Source: docs/api/videos.md#create.
 */
export function readVideoRequest(body: JsonObject): VideoRequest {
  const model = textIn(body, "model");
  const prompt = textIn(body, "prompt");
  if (prompt.length > MAX_PROMPT_CHARACTERS) {
    throw invalidField("prompt", `expected at most ${MAX_PROMPT_CHARACTERS} characters, got ${prompt.length}`);
  }
  const references = readReferences(body);
  const request = {
    model,
    prompt,
    ...references,
    durationSeconds: body.duration === -1 ? -1 : integerIn(body, "duration", 1, MAX_SECONDS),
    resolution: oneOf(body, "resolution", VIDEO_RESOLUTIONS),
    aspectRatio: oneOf(body, "aspect_ratio", VIDEO_RATIOS),
    size: sizeIn(body),
    realPerson: booleanIn(body, "real_person") ?? false,
    generateAudio: booleanIn(body, "generate_audio"),
    seed: integerIn(body, "seed", -1, Number.MAX_SAFE_INTEGER),
    callbackUrl: callbackIn(body),
    metadata: readMetadata(body.metadata),
    pin: readProviderPin(body.provider, "provider"),
    options: readSentOptions(body.provider),
  };
  if (request.size && (request.resolution || request.aspectRatio)) {
    throw invalidField("size", "expected it without resolution and aspect_ratio, which size replaces");
  }
  const hasImage = request.firstFrame !== null || references.references.some(({ medium }) => medium === "image");
  if (request.realPerson && !hasImage) {
    throw invalidField(
      "real_person",
      "expected it together with at least one image in frame_images, input_references or input_reference",
    );
  }
  return request;
}

function given(body: JsonObject, field: string): unknown {
  return body[field] === null ? undefined : body[field];
}

function textIn(body: JsonObject, field: string): string {
  const value = given(body, field);
  if (typeof value !== "string" || value.trim() === "") throw invalidField(field, "expected text that is not empty");
  return value;
}

function integerIn(body: JsonObject, field: string, min: number, max: number): number | null {
  const value = given(body, field);
  if (value === undefined) return null;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    throw invalidField(field, `expected a whole number from ${min} to ${max}`);
  }
  return value;
}

function booleanIn(body: JsonObject, field: string): boolean | null {
  const value = given(body, field);
  if (value === undefined) return null;
  if (typeof value !== "boolean") throw invalidField(field, "expected true or false");
  return value;
}

function oneOf<T extends string>(body: JsonObject, field: string, values: readonly T[]): T | null {
  const value = given(body, field);
  if (value === undefined) return null;
  const known = values.find((each) => each === value);
  if (known === undefined) throw invalidField(field, `expected one of ${values.join(", ")}`);
  return known;
}

function sizeIn(body: JsonObject): VideoRequest["size"] {
  const value = given(body, "size");
  if (value === undefined) return null;
  const match = typeof value === "string" ? /^([1-9][0-9]{1,4})x([1-9][0-9]{1,4})$/.exec(value) : null;
  const [width, height] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
  const isWithin = Math.min(width, height) >= PIXELS.min && Math.max(width, height) <= PIXELS.max;
  if (!isWithin || Math.max(width / height, height / width) > MAX_ASPECT_RATIO) {
    const span = `${PIXELS.min} to ${PIXELS.max} pixels per side`;
    throw invalidField("size", `expected <WIDTH>x<HEIGHT> with ${span} and sides of at most ${MAX_ASPECT_RATIO} to 1`);
  }
  return { width, height };
}

function callbackIn(body: JsonObject): string | null {
  const value = given(body, "callback_url");
  // For other types, the address check returns the error with the right code.
  return value === undefined ? null : typeof value === "string" ? value : "";
}
