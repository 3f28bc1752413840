import type { JsonObject } from "../lib/json_object.ts";
import type { ToolCallPart } from "./conversation.ts";
import { isObject, objectOf, parsedOrNull } from "./wire_value.ts";

/** The single argument of a function that stands in for a free-text tool, in formats without free-text tools. */
export const CUSTOM_INPUT = "input";

/** Holds arguments that are not a JSON object, exactly as the model wrote them. */
const RAW_INPUT = "_raw";

/**
 * The arguments of a call, for formats that accept only an object. Free text, and JSON text that is not an object, are
 * wrapped, so that a model's invalid JSON does not make the conversation fail.
 */
export function argumentsOf({ input, custom }: Pick<ToolCallPart, "input" | "custom">): JsonObject {
  if (custom) return { [CUSTOM_INPUT]: input };
  return objectIn(input || "{}") ?? { [RAW_INPUT]: input };
}

/** The input of a call with these arguments: the inverse of {@linkcode argumentsOf}, except for custom tools. */
export function inputOf(args: unknown): string {
  if (!isObject(args)) return "{}";
  const raw = Object.keys(args).length === 1 ? args[RAW_INPUT] : undefined;
  return typeof raw === "string" && objectIn(raw) === null && raw !== "" ? raw : JSON.stringify(args);
}

/** True for arguments that {@linkcode argumentsOf} wrapped, such as those of a call that was cut off. */
export function isWrapped(args: JsonObject): boolean {
  return RAW_INPUT in args;
}

/** The object that a JSON text holds; null when it holds anything else or is not valid JSON. */
export function objectIn(text: string): JsonObject | null {
  return objectOf(parsedOrNull(text));
}
