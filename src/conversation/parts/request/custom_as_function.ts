import { WordSearch } from "../../../platform/lib/text/word_search.ts";
import { CUSTOM_INPUT } from "./call_input.ts";
import type { JsonSchema, Tool } from "../../neutral/conversation.ts";
import type { Quirks } from "../../contract/quirks.ts";
import { isObject, textOf } from "../../neutral/wire_value.ts";

/** Tools of OpenAI alone, calls and choices of such tools, in its two formats. Codex offers them. */
const CUSTOM_TOOLS = new WordSearch(
  /"type"\s*:\s*"(?:custom|namespace|custom_tool_call|custom_tool_call_output)"/,
  ['"custom', '"namespace"'],
);

/**
 * Whether a vendor takes the types of tools in a request as they are. Those of others are sent as functions.
 *
 * @param outlineText The JSON text of the body without long texts.
 */
export function takesToolTypes(outlineText: string, quirks: Quirks): boolean {
  return !quirks.has("no_custom_tools") || !CUSTOM_TOOLS.test(outlineText);
}

/** Parameters of a function that stands in for a custom tool. Its calls are returned as calls of the custom tool. */
export const CUSTOM_PARAMETERS: JsonSchema = {
  type: "object",
  properties: { [CUSTOM_INPUT]: { type: "string", description: "The whole input of the tool, as plain text" } },
  required: [CUSTOM_INPUT],
  additionalProperties: false,
};

/**
 * The description of a function that stands in for a custom tool. The tool's grammar is added as text, because vendors
 * do not enforce a grammar on a function, and is reported as dropped.
 *
 * @param droppedFields Receives `custom_format` where the tool has a grammar.
 */
export function customDescription(tool: Tool & { kind: "custom" }, droppedFields: Set<string>): string | null {
  const { description, format } = tool;
  if (!isObject(format) || format.type === "text") return description;
  droppedFields.add("custom_format");
  const { syntax, definition } = isObject(format.grammar) ? format.grammar : format;
  const grammar = textOf(definition);
  if (grammar === "") return description;
  const rule = `The input must match this ${textOf(syntax) || "formal"} grammar:\n${grammar}`;
  return description === null || description === "" ? rule : `${description}\n\n${rule}`;
}
