import { createHash } from "node:crypto";
import type { JsonObject } from "../../codec.ts";
import { randomBase62 } from "../../../lib/ids.ts";
import { isObject } from "./fields.ts";

/** The longest tool name that every model of the vendor takes. */
const NAME_MAX = 64;

/** The one argument by which a free-text tool is offered in a form that knows none. */
export const CUSTOM_INPUT = "input";

/** Holds arguments that are no JSON object, as the model wrote them. */
const RAW_INPUT = "_raw";

/** A call's id where the vendor gave none: `call_` and 24 characters, the same for the same seed. */
export function madeCallId(seed: string): string {
  return `call_${shortHash(seed, 24)}`;
}

/** An id for a reply whose vendor gave none. Random, as nothing in such a reply tells it from others. */
export function madeReplyId(): string {
  return `gen_${randomBase62(24)}`;
}

/**
 * The name under which a tool travels in this form: a letter or `_` first, then letters, digits and `_ . : -`, at most
 * 64. A name that is not legal is rewritten with a short hash of itself, so that two names never meet.
 */
export function wireToolName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_.:-]*$/.test(name) && name.length <= NAME_MAX) return name;
  const legal = name.replaceAll(/[^A-Za-z0-9_.:-]/g, "_").replace(/^(?![A-Za-z_])/, "_");
  return `${legal.slice(0, NAME_MAX - 9)}_${shortHash(name, 8)}`;
}

/** A short name for a long text: the first `length` hexadecimal digits of its SHA-256. */
export function shortHash(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/** The arguments that stand for a call's input: free text, and JSON text that is no object, are wrapped. */
export function argumentsOf(input: string, isCustom: boolean): JsonObject {
  if (isCustom) return { [CUSTOM_INPUT]: input };
  return objectIn(input) ?? { [RAW_INPUT]: input };
}

/** The input of a call with these arguments: the inverse of {@linkcode argumentsOf}, custom tools apart. */
export function inputOf(args: unknown): string {
  if (!isObject(args)) return "{}";
  const raw = Object.keys(args).length === 1 ? args[RAW_INPUT] : undefined;
  return typeof raw === "string" && objectIn(raw) === null && raw !== "" ? raw : JSON.stringify(args);
}

/** The object that a JSON text says, or null when it says none. */
export function objectIn(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
