import { createHash } from "node:crypto";
import { type BodyLimits, type BodySource, chunksOf } from "../../../platform/http/bodies/body.ts";
import { closingError, FormText } from "../../../platform/http/bodies/form_text.ts";
import { type JsonBody, jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { readForm } from "../../../platform/http/bodies/multipart.ts";
import { boundaryOf, type PartHead } from "../../../platform/http/bodies/multipart_head.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { GrowingBytes } from "../../../platform/lib/bytes/growing_bytes.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { mediaTypeOf } from "../../../platform/lib/media/media_type.ts";
import { EmbeddedMedia } from "../../../platform/lib/media/sent_media.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";

/** A create request sent as a form, converted to JSON. */
export interface VideoForm {
  readonly body: JsonObject;
  /** Equal for forms with equal fields, regardless of their formatting; the file is represented by its digest. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The digest of `bytes`, which nobody has computed. */
  readonly hash: null;
}

/** The first frame of a video. Source: OpenAI API reference, "Create video". */
const FILE_FIELD = "input_reference";
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "size",
  "resolution",
  "aspect_ratio",
  "callback_url",
]);
const NUMBER_FIELDS: ReadonlySet<string> = new Set(["seconds", "duration", "seed"]);
const SWITCH_FIELDS: ReadonlySet<string> = new Set(["generate_audio", "real_person"]);
/** Objects and lists: as JSON text, or, one level deep, as `metadata[key]`. */
const JSON_FIELDS: ReadonlySet<string> = new Set([
  "frame_images",
  "input_references",
  "provider",
  "metadata",
  FILE_FIELD,
]);
const MEMBER = /^([a-z_]+)\[([^\[\]]+)\]$/;

/** The memory of a form besides its file. */
const FORM_MEMORY_BYTES = 1_048_576;
/** The memory per byte of the file: the file itself, and a copy of it while its buffer grows. */
const FILE_MEMORY_FACTOR = 2;

/**
 * Reads a create request sent as a form, as OpenAI's clients do. Unknown fields are ignored, as in JSON.
 *
 * @throws {GatewayError} `invalid_request`, `request_too_large` or `overloaded`, as early as possible.
 */
export async function readVideoForm({ request, memory }: BodySource, limits: BodyLimits): Promise<VideoForm> {
  memory.reserve(FORM_MEMORY_BYTES);
  const boundary = boundaryOf(request.headers.get("content-type"));
  const form = new FormBuilder(memory);
  try {
    for await (const event of readForm(chunksOf(request, limits), boundary)) {
      if (event.type === "head") form.begin(event.head);
      else if (event.type === "data") form.take(event.bytes);
      else form.endPart();
    }
    return await form.finish();
  } catch (error) {
    form.drop();
    throw error;
  }
}

class FormBuilder {
  readonly #fields = new Map<string, string>();
  #file: GrowingBytes | null = null;
  /** Of the file, as it arrives: the digest of a whole one would hold up other requests. */
  readonly #hash = createHash("sha256");
  #part: FormText | GrowingBytes | null = null;

  constructor(readonly memory: HeldMemory) {}

  begin({ name, isFile }: PartHead): void {
    const top = MEMBER.exec(name)?.[1] ?? name;
    this.#part = null;
    if (name === FILE_FIELD && isFile) {
      if (this.#file !== null) throw closingError(invalidField(FILE_FIELD, "expected one file, got two"));
      const reserve = (bytes: number) => this.memory.reserve(bytes * FILE_MEMORY_FACTOR);
      this.#part = this.#file = new GrowingBytes({ expectedBytes: null, reserve });
    } else if (isKnown(top)) {
      if (isFile) throw closingError(invalidField(name, "expected text, got a file upload"));
      this.#part = new FormText(name);
    } else if (isKnown(/^[a-z_]+(?=\[)/.exec(name)?.[0] ?? "")) {
      throw closingError(invalidField(name.slice(0, 100), "expected this field as JSON text"));
    }
  }

  take(bytes: Uint8Array<ArrayBuffer>): void {
    this.#part?.add(bytes);
    if (this.#part !== null && this.#part === this.#file) this.#hash.update(bytes);
  }

  endPart(): void {
    if (this.#part instanceof FormText) this.#part.enter(this.#fields);
    this.#part = null;
  }

  async finish(): Promise<VideoForm> {
    const body = bodyOf(this.#fields);
    if (this.#file === null) return { body, bytes: encoded(body), hash: null };
    if (body[FILE_FIELD] !== undefined) throw invalidField(FILE_FIELD, "expected a file or an object, got both");
    const file = this.#file.finish();
    const type = await mediaTypeOf(file);
    if (!type?.startsWith("image/")) throw invalidField(FILE_FIELD, "expected an image");
    const digest = this.#hash.digest("hex");
    const image = new EmbeddedMedia(file, true, file.length);
    this.#file = null;
    const bytes = encoded({ ...body, [FILE_FIELD]: digest });
    return { body: { ...body, [FILE_FIELD]: { image_url: image } }, bytes, hash: null };
  }

  drop(): void {
    this.#file?.drop();
    this.#file = null;
  }
}

function isKnown(field: string): boolean {
  return [TEXT_FIELDS, NUMBER_FIELDS, SWITCH_FIELDS, JSON_FIELDS].some((fields) => fields.has(field));
}

/** Sorted by name, so that equal forms produce equal text. */
function bodyOf(fields: ReadonlyMap<string, string>): JsonObject {
  const body: JsonObject = {};
  for (const [name, text] of [...fields].toSorted(([a], [b]) => a < b ? -1 : 1)) {
    const [, top, member] = MEMBER.exec(name) ?? [];
    if (top === undefined || member === undefined) {
      body[name] = valueOf(name, text);
      continue;
    }
    const object = body[top] ?? {};
    if (!JSON_FIELDS.has(top) || typeof object !== "object" || object === null || Array.isArray(object)) {
      throw invalidField(name, `expected "${top}" once, as text or by its members`);
    }
    body[top] = { ...object, [member]: text };
  }
  return body;
}

/** A value that is not a number, boolean or JSON stays text; the reader of the request rejects it. */
function valueOf(name: string, text: string): unknown {
  if (NUMBER_FIELDS.has(name) && /^-?[0-9]{1,16}$/.test(text)) return Number(text);
  if (SWITCH_FIELDS.has(name) && /^(true|false)$/.test(text)) return text === "true";
  return JSON_FIELDS.has(name) && /^\s*[\[{]/.test(text) ? jsonIn(name, text) : text;
}

/** By the rules of a JSON body: no repeated names, limited depth. */
function jsonIn(name: string, text: string): unknown {
  const { body } = jsonOrNull(`{"${name}":${text}}`) ?? {};
  if (body === undefined || Object.keys(body).length !== 1) throw invalidField(name, "expected JSON text");
  return body[name];
}

function jsonOrNull(text: string): JsonBody | null {
  try {
    return jsonObjectOf(new TextEncoder().encode(text));
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

function encoded(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}
