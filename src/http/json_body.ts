import { Buffer, isUtf8 } from "node:buffer";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";
import { type JsonScan, scanJson } from "../lib/json.ts";
import { hasRepeatedMember } from "../lib/json_members.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { hasMoreValuesThan } from "../lib/json_values.ts";
import { jsonMistakeIn } from "../lib/json_mistake.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import { type BodyLimits, type BodySource, readBody } from "./body.ts";

/** A JSON object as sent, parsed and scanned. */
export interface JsonBody {
  readonly body: JsonObject;
  /** The text in UTF-8 without a byte order mark, as a pass-through forwards it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The byte ranges of the top-level members in `bytes`; see `spliceJson`. */
  readonly scan: JsonScan;
}

/**
 * The memory per byte of JSON text: the received bytes, their text, the parsed values and the bytes that are sent on.
 * Measured with texts, base64 pictures and messages of 19 MB.
 */
export const JSON_MEMORY_FACTOR = 4;

/** The additional memory of an object or array in bytes. Measured with empty ones, which cost the most. */
const JSON_CONTAINER_BYTES = 96;

/** The maximum number of values in an image or video request, which consists of a few long strings. */
export const MAX_MEDIA_REQUEST_VALUES = 100_000;

/** The maximum nesting depth. */
const MAX_JSON_DEPTH = 200;

/**
 * Reads a request whose body is one JSON object. The accepted content types of every endpoint are `application/json`,
 * `text/json`, any `…+json`, or none. Parameters are ignored except for a charset other than UTF-8. Anything else is
 * 415.
 *
 * A repeated name in an object, at any depth, is rejected, because another parser may take the other value. No message
 * repeats content of the body except the names of repeated members.
 *
 * The memory of the parsed value is reserved until the request ends.
 *
 * @throws {GatewayError} `invalid_request` (400, 408, 415), `request_too_large` or `overloaded`.
 */
export async function readJsonObject(source: BodySource, limits: BodyLimits): Promise<JsonBody> {
  refuseOtherTypes(source.request.headers.get("content-type"));
  const bytes = await readBody(source, limits, JSON_MEMORY_FACTOR);
  const { maxValues } = limits;
  if (maxValues !== undefined && await hasMoreValuesThan(bytes, maxValues)) {
    throw new GatewayError("invalid_request", `Cannot read the body: expected at most ${maxValues} JSON values`);
  }
  return jsonObjectOf(bytes, source.memory);
}

/**
 * Parses bytes as one JSON object, by the rules of {@linkcode readJsonObject}.
 *
 * @param memory The lease for the parsed objects and arrays; the bytes are reserved already. Default: not counted.
 * @throws {GatewayError} `invalid_request`; `overloaded` or `request_too_large` if the memory does not suffice.
 */
export function jsonObjectOf(sent: Uint8Array<ArrayBuffer>, memory?: MemoryLease): JsonBody {
  const bytes = withoutMark(sent);
  if (!isUtf8(bytes)) throw new GatewayError("invalid_request", "Cannot read the body: expected UTF-8");
  const scan = outlineOf(bytes);
  memory?.reserve(scan.containers * JSON_CONTAINER_BYTES);
  const body = parsed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw notAnObject(nameOf(body));
  if (hasRepeatedMember(scan, body)) {
    throw new GatewayError("invalid_request", "Cannot read the body: an object contains a repeated name");
  }
  return { body: body as JsonObject, bytes, scan };
}

function refuseOtherTypes(field: string | null): void {
  if (field === null || field === "application/json") return;
  const [type = "", ...parameters] = field.toLowerCase().split(";").map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isJson = type === "" || /^(application|text)\/json$/.test(type) || /^[\w.-]+\/[\w.-]+\+json$/.test(type);
  if (isJson && (charset === undefined || /^"?utf-?8"?$/.test(charset))) return;
  throw new GatewayError("invalid_request", "Cannot read this Content-Type: expected application/json in UTF-8", {
    status: 415,
  });
}

function withoutMark(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Before the parser runs, which would follow any depth and keep the last of repeated members. */
function outlineOf(bytes: Uint8Array): JsonScan {
  let scan: JsonScan;
  try {
    scan = scanJson(bytes);
  } catch (cause) {
    throw new GatewayError("invalid_request", "Cannot read the body: its top-level object has too many members", {
      cause,
    });
  }
  if (scan.depth > MAX_JSON_DEPTH) {
    throw new GatewayError(
      "invalid_request",
      `Cannot read the body: expected at most ${MAX_JSON_DEPTH} levels of nesting`,
    );
  }
  if (scan.duplicate !== null) throw invalidField(scan.duplicate.slice(0, 64), "expected it once, got it twice");
  return scan;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (text.trim() === "") throw notAnObject("an empty body");
    const mistake = jsonMistakeIn(text, error);
    if (mistake === null) throw new GatewayError("invalid_request", "Cannot read the body as JSON");
    const { found, position, line, column } = mistake;
    throw new GatewayError(
      "invalid_request",
      `Cannot read the body as JSON: got ${found} at position ${position} (line ${line}, column ${column})`,
    );
  }
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function notAnObject(got: string): GatewayError {
  return new GatewayError("invalid_request", `Cannot read the body: expected a JSON object, got ${got}`);
}
