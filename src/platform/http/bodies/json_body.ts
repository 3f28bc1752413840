import { Buffer, isUtf8 } from "node:buffer";
import { GatewayError, invalidField } from "../../lib/basics/gateway_error.ts";
import { chain, type MaybePromise } from "../../lib/basics/maybe_promise.ts";
import { type JsonScan, scanJson } from "../../lib/json/json.ts";
import { hasRepeatedMember } from "../../lib/json/json_members.ts";
import { type OmittedStrings, omittedText, outlineOf } from "../../lib/json/json_outline.ts";
import type { JsonObject } from "../../lib/json/json_object.ts";
import { hasMoreValuesThan, NEW_NAME_VALUES, type ValueWeights } from "../../lib/json/json_values.ts";
import { jsonMistakeIn } from "../../lib/json/json_mistake.ts";
import type { HeldMemory } from "../../lib/process/memory_budget.ts";
import { type BodyLimits, type BodySource, readBody, refuseLongBody } from "./body.ts";
import type { ReceivedBody } from "../request/inbound.ts";

/** A JSON object as sent, scanned and parsed. */
export interface JsonBody {
  /** The whole object. The first access parses it if `outline` omits a text. */
  readonly body: JsonObject;
  /** The object without the long texts of its conversation, see `json_outline.ts`. */
  readonly outline: JsonObject;
  /** The JSON text of `outline`. */
  readonly outlineText: string;
  /** The string of `body` that a string of `outline` represents. */
  wholeText(text: string): string;
  /** The text in UTF-8 without a byte order mark, as a pass-through forwards it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The byte ranges of the top-level members in `bytes`; see `spliceJson`. */
  readonly scan: JsonScan;
  /** The bytes as the caller sent them, if the gateway has changed them since. */
  readonly sent?: Uint8Array<ArrayBuffer>;
}

/**
 * The memory per byte of JSON text: the received bytes, their text, the parsed values and the bytes that are sent on.
 * Measured with texts, base64 pictures and messages of 19 MB.
 */
export const JSON_MEMORY_FACTOR = 4;

/** The additional memory of an object or array in bytes. Measured with empty ones, which cost the most. */
export const JSON_CONTAINER_BYTES = 96;

/** The maximum number of values in an image or video request, which consists of a few long strings. */
export const MAX_MEDIA_REQUEST_VALUES = 100_000;

/** The maximum number of values in a request of many inputs: the token ids that a vendor accepts in one request. */
export const MAX_INPUT_VALUES = 350_000;

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
  refuseOtherTypes((source.headers ?? source.request.headers).get("content-type"));
  if (source.received !== undefined) {
    const { bytes, scan } = source.received;
    refuseLongBody(bytes, limits);
    return jsonObjectOf(bytes, source.memory, scan);
  }
  const bytes = await readBody(source, limits, JSON_MEMORY_FACTOR);
  return countedJsonObject(bytes, limits, source.memory);
}

/** The bytes of a body of JSON, whose memory is reserved unless they were received before. Throws as `readBody`. */
export async function bodyOf(source: BodySource, limits: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  if (source.received === undefined) return await readBody(source, limits, JSON_MEMORY_FACTOR);
  refuseLongBody(source.received.bytes, limits);
  return source.received.bytes;
}

/**
 * Parses bytes as {@linkcode jsonObjectOf} does, unless they have more than `maxValues` values, of which a new name of
 * a member counts for several. The result is immediate for a short text.
 *
 * @throws {GatewayError} As {@linkcode jsonObjectOf}.
 */
export function countedJsonObject(
  bytes: Uint8Array<ArrayBuffer>,
  limits: ValueLimits,
  memory?: HeldMemory,
): MaybePromise<JsonBody> {
  return chain(refuseManyValues(bytes, limits), () => jsonObjectOf(bytes, memory));
}

/** The limits of a body that concern its values. */
interface ValueLimits extends Pick<BodyLimits, "maxValues"> {
  /** Default: {@linkcode CALLER_WEIGHTS}. */
  readonly weights?: ValueWeights;
}

/** Bodies with thousands of numbers are tokens, and no body needs as many of anything else. */
const CALLER_WEIGHTS: Required<ValueWeights> = { newName: NEW_NAME_VALUES, small: 8 };

/**
 * Counts values before they are parsed. The result is immediate for a short text.
 *
 * @throws {GatewayError} `invalid_request` for more than `maxValues`.
 */
export function refuseManyValues(
  bytes: Uint8Array,
  { maxValues, weights = CALLER_WEIGHTS }: ValueLimits,
): MaybePromise<void> {
  if (maxValues === undefined) return;
  return chain(hasMoreValuesThan(bytes, maxValues, weights), (isAbove) => {
    if (!isAbove) return;
    const { newName, small } = CALLER_WEIGHTS;
    const counts = `an object, a list or a short text counts as ${small}, and a new name of a member as ${newName}`;
    const message = `Cannot read the body: expected at most ${maxValues} JSON values, where ${counts}`;
    throw new GatewayError("invalid_request", message);
  });
}

/**
 * Reads a request whose body is one JSON object, or is empty, which is the same as an object without members.
 *
 * @throws {GatewayError} As {@linkcode readJsonObject}.
 */
export async function readOptionalJsonObject(source: BodySource, limits: BodyLimits): Promise<JsonObject> {
  const bytes = await bodyOf(source, limits);
  if (bytes.length === 0) return {};
  refuseOtherTypes((source.headers ?? source.request.headers).get("content-type"));
  return jsonObjectOf(bytes, source.memory).body;
}

/** The texts of a conversation in every wire format. */
const CONVERSATION_TEXTS: OmittedStrings = {
  within: new Set(["messages", "input", "contents", "system"]),
  names: ["content", "text"],
};

/**
 * Parses bytes as one JSON object, by the rules of {@linkcode readJsonObject}.
 *
 * @param memory The lease for the parsed objects and arrays; the bytes are reserved already. Default: not counted.
 * @param scanned The outline of the bytes, if they have no byte order mark and were scanned before.
 * @throws {GatewayError} `invalid_request`; `overloaded` or `request_too_large` if the memory does not suffice.
 */
export function jsonObjectOf(sent: Uint8Array<ArrayBuffer>, memory?: HeldMemory, scanned?: JsonScan): JsonBody {
  const bytes = withoutMark(sent);
  const scan = scanned ?? scanOf(bytes);
  const wholeText = scan.isAscii ? null : checkedText(bytes);
  checkScan(scan);
  memory?.reserve(scan.containers * JSON_CONTAINER_BYTES);
  const abbreviated = outlineOf(bytes, scan, CONVERSATION_TEXTS);
  const outlineText = abbreviated ?? wholeText ?? textOf(bytes, true);
  const outline = parsedOutline(outlineText, abbreviated === null ? null : bytes);
  if (typeof outline !== "object" || outline === null || Array.isArray(outline)) throw notAnObject(nameOf(outline));
  if (hasRepeatedMember(scan, outline)) {
    throw new GatewayError("invalid_request", "Cannot read the body: an object contains a repeated name");
  }
  return new ReadBody(outline as JsonObject, outlineText, bytes, scan, abbreviated !== null);
}

/**
 * A body in the place of one that was received.
 *
 * @throws {GatewayError} As {@linkcode jsonObjectOf}.
 */
export function changedBody(json: JsonBody, bytes: Uint8Array<ArrayBuffer>, memory: HeldMemory): JsonBody {
  return Object.assign(jsonObjectOf(bytes, memory), { sent: json.sent ?? json.bytes });
}

class ReadBody implements JsonBody {
  #whole: JsonObject | null;

  constructor(
    readonly outline: JsonObject,
    readonly outlineText: string,
    readonly bytes: Uint8Array<ArrayBuffer>,
    readonly scan: JsonScan,
    isAbbreviated: boolean,
  ) {
    this.#whole = isAbbreviated ? null : outline;
  }

  wholeText(text: string): string {
    return this.#whole === this.outline ? text : omittedText(this.bytes, this.scan, text);
  }

  get body(): JsonObject {
    return this.#whole ??= JSON.parse(textOf(this.bytes, this.scan.isAscii)) as JsonObject;
  }
}

function textOf(bytes: Uint8Array, isAscii: boolean): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(isAscii ? "latin1" : "utf8");
}

/**
 * Refuses the content types of {@linkcode readJsonObject} that are not JSON.
 *
 * @throws {GatewayError} `invalid_request` (415).
 */
export function refuseOtherTypes(field: string | null): void {
  if (field === null || field === "application/json") return;
  const [type = "", ...parameters] = field.toLowerCase().split(";").map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isJson = type === "" || /^(application|text)\/json$/.test(type) || /^[\w.-]+\/[\w.-]+\+json$/.test(type);
  if (isJson && (charset === undefined || /^"?utf-?8"?$/.test(charset))) return;
  const shown = shownType(field);
  const message = `Cannot read the Content-Type "${shown}": expected application/json in UTF-8` +
    (shown === DEFAULT_TYPE_OF_CURL ? '; curl needs the option -H "Content-Type: application/json"' : "");
  throw new GatewayError("invalid_request", message, { status: 415 });
}

/** What curl sends with `-d` and without a header field for the type. */
const DEFAULT_TYPE_OF_CURL = "application/x-www-form-urlencoded";

const MAX_SHOWN_CHARACTERS = 80;

function shownType(field: string): string {
  return field.replace(/[^\x21-\x7e ]|"/g, "").slice(0, MAX_SHOWN_CHARACTERS);
}

function withoutMark(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/**
 * Scans a body before its handler is chosen.
 *
 * @throws {GatewayError} `invalid_request` for an object with too many members.
 */
export function receivedBodyOf(sent: Uint8Array<ArrayBuffer>): Required<ReceivedBody> {
  const bytes = withoutMark(sent);
  return { bytes, scan: scanOf(bytes) };
}

function scanOf(bytes: Uint8Array<ArrayBuffer>): JsonScan {
  try {
    return scanJson(bytes);
  } catch (cause) {
    checkedText(bytes);
    throw new GatewayError("invalid_request", "Cannot read the body: its top-level object has too many members", {
      cause,
    });
  }
}

/** Before the parser runs, which would follow any depth and keep the last of repeated members. */
function checkScan(scan: JsonScan): void {
  if (scan.depth > MAX_JSON_DEPTH) {
    throw new GatewayError(
      "invalid_request",
      `Cannot read the body: expected at most ${MAX_JSON_DEPTH} levels of nesting`,
    );
  }
  if (scan.duplicate !== null) throw invalidField(scan.duplicate.slice(0, 64), "expected it once, got it twice");
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes UTF-8. The decoder replaces invalid bytes, which is faster than a check before it. */
function checkedText(bytes: Uint8Array<ArrayBuffer>): string {
  const text = DECODER.decode(bytes);
  if (!text.includes("\ufffd") || isUtf8(bytes)) return text;
  throw new GatewayError("invalid_request", "Cannot read the body: expected UTF-8");
}

/** @param whole The bytes of the whole body, for the position of an error; null if `text` is the whole body. */
function parsedOutline(text: string, whole: Uint8Array | null): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return whole === null ? refuse(text, error) : parsedOutline(textOf(whole, false), null);
  }
}

function refuse(text: string, error: SyntaxError): never {
  if (text.trim() === "") throw notAnObject("an empty body");
  const mistake = jsonMistakeIn(text, error);
  if (mistake === null) throw new GatewayError("invalid_request", "Cannot read the body as JSON");
  const { found, position, line, column } = mistake;
  throw new GatewayError(
    "invalid_request",
    `Cannot read the body as JSON: got ${found} at position ${position} (line ${line}, column ${column})`,
  );
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function notAnObject(got: string): GatewayError {
  return new GatewayError("invalid_request", `Cannot read the body: expected a JSON object, got ${got}`);
}
