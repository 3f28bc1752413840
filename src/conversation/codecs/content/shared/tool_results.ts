import type { JsonObject } from "../../../../lib/json_object.ts";
import type { FilePart, ImagePart, TextPart, ToolResultPart } from "../../../conversation.ts";
import { objectIn } from "../../../call_input.ts";
import { isObject } from "../../../wire_value.ts";
import { objectsIn } from "./fields.ts";
import { needsInlining, readMedia, writeMedia } from "./parts.ts";

/** The key under which an answer that is no object is wrapped; what tools answer in an error stands under `error`. */
const OUTPUT = "output";

/** Keys that, standing alone, wrap an answer. `result` is common in the vendor's examples. */
const WRAPPERS: ReadonlySet<string> = new Set([OUTPUT, "result", "error"]);

/** What a `functionResponse` says: its answer as text, the media beside it, and whether media were left out. */
export interface ReadAnswer {
  readonly parts: ToolResultPart["parts"];
  readonly isError: boolean;
  readonly leftOut: boolean;
}

/** Reads the answer in a `functionResponse`. An object that wraps nothing is given as compact JSON text. */
export function readAnswer(functionResponse: JsonObject): ReadAnswer {
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

/** An answer as this form has it, and the media that must follow it as parts of their own. */
export interface WrittenAnswer {
  readonly response: JsonObject;
  /** Media inside the `functionResponse`, for models that read them there. */
  readonly inside: readonly JsonObject[];
  /** Media to follow in the same content. */
  readonly after: readonly JsonObject[];
}

/**
 * @param takesMedia True for models that read media inside a `functionResponse`; others get them after it, and a note.
 * @throws {GatewayError} `invalid_request` if a medium's address was not fetched.
 */
export function writeAnswer(result: ToolResultPart, takesMedia: boolean): WrittenAnswer {
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const part of result.parts) {
    if (part.kind === "text") texts.push(part.text);
    else media.push(writeMedia(part));
  }
  // Only bytes are documented inside an answer.
  const goesInside = takesMedia && result.parts.every((part) => part.kind === "text" || isInline(part));
  if (media.length > 0 && !goesInside) texts.push(`[${media.length} attached after the tool results]`);
  const response = responseOf(texts.join("\n"), result.isError);
  return goesInside ? { response, inside: media, after: [] } : { response, inside: [], after: media };
}

function isInline(part: ImagePart | FilePart): boolean {
  return part.source.kind === "base64" && !needsInlining(part.source);
}

function responseOf(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  const object = text.startsWith("{") ? objectIn(text) : null;
  return object !== null && saysTheSame(object, text) ? object : { [OUTPUT]: text };
}

/** True when an object can stand for its text: nothing but white space is lost, and it does not look like a wrapper. */
function saysTheSame(object: JsonObject, text: string): boolean {
  const keys = Object.keys(object);
  if (keys.length === 0 || (keys.length === 1 && WRAPPERS.has(keys[0]!))) return false;
  return JSON.stringify(object).replaceAll(/\s/g, "") === text.replaceAll(/\s/g, "");
}
