import { isJson } from "../../../platform/lib/json/json.ts";
import { isNestedDeeperThan, jsonTextOf, parseExactJson } from "../../../platform/lib/json/exact_json.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { ToolCallPart } from "../../neutral/conversation.ts";
import { isObject, objectOf } from "../../neutral/wire_value.ts";

/** The single argument of a function that stands in for a free-text tool, in formats without free-text tools. */
export const CUSTOM_INPUT = "input";

/** Holds arguments that are not a JSON object, exactly as the model wrote them. */
export const RAW_INPUT = "_raw";

/** Deeper arguments are sent as text: parsers of vendors and clients refuse them, and writing them ends in failure. */
const MAX_ARGUMENT_LEVELS = 512;

/**
 * The arguments of a call, for formats that accept only an object. Free text, and JSON text that is not an object, are
 * wrapped, so that a model's invalid JSON does not make the conversation fail. Numbers keep their digits.
 */
export function argumentsOf({ input, custom }: Pick<ToolCallPart, "input" | "custom">): JsonObject {
  if (custom) return { [CUSTOM_INPUT]: input };
  return objectIn(readableInput(input)) ?? { [RAW_INPUT]: input };
}

/**
 * The input of a call with these arguments: the inverse of {@linkcode argumentsOf}, except for custom tools. Text is
 * the arguments themselves, as some vendors send them.
 */
export function inputOf(args: unknown): string {
  if (args === undefined || args === null) return "{}";
  if (!isObject(args)) return readableInput(typeof args === "string" ? args : jsonTextOf(args));
  const raw = Object.keys(args).length === 1 ? args[RAW_INPUT] : undefined;
  return typeof raw === "string" && objectIn(raw) === null && raw !== "" ? raw : jsonTextOf(args);
}

/**
 * The arguments as a client can read them: `{}` for blank ones, the inner text of those that were encoded twice, and
 * line breaks in strings escaped. Any other text is returned as the model wrote it, also if it is not JSON.
 */
export function readableInput(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "null") return "{}";
  if (trimmed.startsWith("{")) return hasControlCharacter(text) && !isJson(text) ? escapedIfRead(text) : text;
  const inner = trimmed.startsWith('"') ? textIn(trimmed) : null;
  if (inner === null) return text;
  const read = inner.trim() === "" ? "{}" : readableInput(inner);
  return read === "{}" || objectIn(read) !== null ? read : text;
}

/** True for arguments that {@linkcode argumentsOf} wrapped, such as those of a call that was cut off. */
export function isWrappedInput(args: JsonObject): boolean {
  return RAW_INPUT in args;
}

/** The object that a JSON text holds; null when it holds anything else, is nested too deep, or is not valid JSON. */
export function objectIn(text: string): JsonObject | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    const object = objectOf(parseExactJson(text, true));
    const mayBeDeep = text.length > 2 * MAX_ARGUMENT_LEVELS;
    return object !== null && mayBeDeep && isNestedDeeperThan(object, MAX_ARGUMENT_LEVELS) ? null : object;
  } catch {
    return null;
  }
}

/** Escapes control characters in the strings of a JSON text that arrives in pieces. Source: RFC 8259, 7. */
export class ControlEscaper {
  #isInString = false;
  #isEscaped = false;

  /** The piece with its control characters in strings escaped. */
  push(piece: string): string {
    let escaped = "";
    let copied = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = this.#isInString;
      else if (code === QUOTE) this.#isInString = !this.#isInString;
      else if (code < SPACE && this.#isInString) {
        escaped += piece.slice(copied, at) + JSON.stringify(piece[at]).slice(1, -1);
        copied = at + 1;
      }
    }
    return copied === 0 ? piece : escaped + piece.slice(copied);
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function hasControlCharacter(text: string): boolean {
  // deno-lint-ignore no-control-regex -- they are what is looked for
  return /[\u0000-\u001f]/.test(text);
}

function escapedIfRead(text: string): string {
  const escaped = new ControlEscaper().push(text);
  return objectIn(escaped) === null ? text : escaped;
}

/** The text that a JSON string holds; null when it is not one. */
function textIn(json: string): string | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
