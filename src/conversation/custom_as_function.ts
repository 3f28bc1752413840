import { CUSTOM_INPUT } from "./call_input.ts";
import type { JsonSchema, Tool } from "./conversation.ts";
import { isObject, textOf } from "./wire_value.ts";

/** What such a function takes. Calls of it come back to the caller as calls of the tool. */
export const CUSTOM_PARAMETERS: JsonSchema = {
  type: "object",
  properties: { [CUSTOM_INPUT]: { type: "string", description: "The whole input of the tool, as plain text" } },
  required: [CUSTOM_INPUT],
  additionalProperties: false,
};

/**
 * The description of such a function. A grammar stands in it, as no vendor holds a function's text to one, and is named
 * as lost.
 *
 * @param losses Receives `custom_format` where the tool has a grammar.
 */
export function customDescription(tool: Tool & { kind: "custom" }, losses: Set<string>): string | null {
  const { description, format } = tool;
  if (!isObject(format) || format.type === "text") return description;
  losses.add("custom_format");
  const { syntax, definition } = isObject(format.grammar) ? format.grammar : format;
  const grammar = textOf(definition);
  if (grammar === "") return description;
  const rule = `The input must match this ${textOf(syntax) || "formal"} grammar:\n${grammar}`;
  return description === null || description === "" ? rule : `${description}\n\n${rule}`;
}
