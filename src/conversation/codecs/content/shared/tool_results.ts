import { hasInexactNumber } from "../../../../platform/lib/json/exact_json.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { FilePart, ImagePart, TextPart, ToolResultPart } from "../../../neutral/conversation.ts";
import { EMPTY_ERROR } from "../../../parts/request/pairing.ts";
import { objectIn } from "../../../parts/request/call_input.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { objectsIn } from "./fields.ts";
import { needsInlining, readMedia, writeMedia } from "./parts.ts";

/** The key that wraps a result that is not an object; the result of a failed call is wrapped in `error`. */
export const OUTPUT = "output";

/** Keys that wrap a result when they are the only one. `result` is common in the vendor's examples. */
const WRAPPERS: ReadonlySet<string> = new Set([OUTPUT, "result", "error"]);

/** A `functionResponse` that was read: its result as text, its media, and whether media were left out. */
export interface ReadResult {
  readonly parts: ToolResultPart["parts"];
  readonly isError: boolean;
  readonly leftOut: boolean;
}

/** Reads a `functionResponse`. An object that is not a wrapper becomes compact JSON text. */
export function readResult(functionResponse: JsonObject): ReadResult {
  const response = isObject(functionResponse.response) ? functionResponse.response : {};
  const keys = Object.keys(response);
  const wrapper = keys.length === 1 && WRAPPERS.has(keys[0]!) ? keys[0]! : null;
  const text = wrapper !== null ? textOf(response[wrapper]) : keys.length === 0 ? "" : JSON.stringify(response);
  const parts: (TextPart | ImagePart | FilePart)[] = text === "" ? [] : [{ kind: "text", text }];
  let leftOut = false;
  for (const part of objectsIn(functionResponse.parts)) {
    const media = readMedia(part);
    if (media?.kind === "image" || media?.kind === "file") parts.push(media);
    else leftOut = true;
  }
  return { parts, isError: wrapper === "error", leftOut };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

/** A result in this format, and the media that follow it as separate parts. */
export interface WrittenResult {
  readonly response: JsonObject;
  /** Media within the `functionResponse`, for models that support that. */
  readonly inside: readonly JsonObject[];
  /** Media to follow in the same content. */
  readonly after: readonly JsonObject[];
}

/**
 * Writes a result.
 *
 * @param takesMedia True for models that accept media within a `functionResponse`; otherwise they follow it, and the
 * text refers to them.
 * @throws {GatewayError} `invalid_request` for media by URL that were not fetched.
 */
export function writeResult(result: ToolResultPart, takesMedia: boolean): WrittenResult {
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const part of result.parts) {
    if (part.kind === "text") texts.push(part.text);
    else media.push(writeMedia(part));
  }
  // Only bytes are documented within a result.
  const isInside = takesMedia && result.parts.every((part) => part.kind === "text" || isInline(part));
  if (media.length > 0 && !isInside) texts.push(`[${media.length} attached after the tool results]`);
  const response = responseOf(texts.join("\n"), result.isError);
  return isInside ? { response, inside: media, after: [] } : { response, inside: [], after: media };
}

function isInline(part: ImagePart | FilePart): boolean {
  return part.source.kind === "base64" && !needsInlining(part.source);
}

function responseOf(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text || EMPTY_ERROR };
  // The vendor reads a member "$ref" at any depth as a reference to a part of the response, and numbers as doubles.
  const isObject = text.startsWith("{") && !text.includes('"$ref"') && !hasInexactNumber(text);
  const object = isObject ? objectIn(text) : null;
  return object !== null && isEquivalent(object, text) ? object : { [OUTPUT]: text };
}

/** True when an object is equivalent to its text: only whitespace is lost, and it does not look like a wrapper. */
function isEquivalent(object: JsonObject, text: string): boolean {
  const keys = Object.keys(object);
  if (keys.length === 0 || (keys.length === 1 && WRAPPERS.has(keys[0]!))) return false;
  return JSON.stringify(object).replaceAll(/\s/g, "") === text.replaceAll(/\s/g, "");
}
