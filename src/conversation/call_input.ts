import type { JsonObject } from "../lib/json_object.ts";
import type { ToolCallPart } from "./conversation.ts";
import { isObject, objectOf, parsedOrNull } from "./wire_value.ts";

/** The one argument by which a free-text tool is offered in a form that knows none. */
export const CUSTOM_INPUT = "input";

/** Holds arguments that are no JSON object, as the model wrote them. */
const RAW_INPUT = "_raw";

/**
 * The arguments of a call for forms that take an object only. Free text, and JSON text that is no object, are wrapped:
 * a model's broken JSON is no reason to refuse the conversation.
 */
export function argumentsOf({ input, custom }: Pick<ToolCallPart, "input" | "custom">): JsonObject {
  if (custom) return { [CUSTOM_INPUT]: input };
  return objectIn(input || "{}") ?? { [RAW_INPUT]: input };
}

/** The input of a call with these arguments: the inverse of {@linkcode argumentsOf}, custom tools apart. */
export function inputOf(args: unknown): string {
  if (!isObject(args)) return "{}";
  const raw = Object.keys(args).length === 1 ? args[RAW_INPUT] : undefined;
  return typeof raw === "string" && objectIn(raw) === null && raw !== "" ? raw : JSON.stringify(args);
}

/** True for arguments that had to be wrapped, as of a call that was cut off in the middle. */
export function isWrapped(args: JsonObject): boolean {
  return RAW_INPUT in args;
}

/** The object that a JSON text says, or null when it says none. */
export function objectIn(text: string): JsonObject | null {
  return objectOf(parsedOrNull(text));
}
