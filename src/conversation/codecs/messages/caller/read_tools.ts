import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { isOwnTool } from "./check.ts";
import { isSearchTool } from "./read_search.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { type FieldNames, readCache } from "../shared/fields.ts";

/**
 * The tools that the caller runs. The vendor's own, except its web search, are added to `unsupportedFields` by their
 * type.
 */
export function readTools(tools: unknown, unsupportedFields: FieldNames): Tool[] {
  if (!Array.isArray(tools)) return [];
  const search = tools.find((tool) => isObject(tool) && isSearchTool(tool));
  return tools.filter(isObject).flatMap((tool) => {
    if (tool === search) return [];
    if (!isOwnTool(tool)) {
      unsupportedFields.add(`tools.${String(tool.type)}`);
      return [];
    }
    return [{
      kind: "function" as const,
      name: tool.name as string,
      description: textOrNull(tool.description) || null,
      parameters: isObject(tool.input_schema) && !hasNoArguments(tool.input_schema) ? tool.input_schema : null,
      strict: typeof tool.strict === "boolean" ? tool.strict : null,
      ...readCache(tool),
    }];
  });
}

/** True for a schema without arguments. */
function hasNoArguments(schema: JsonObject): boolean {
  return schema.type === "object" && isObject(schema.properties) && Object.keys(schema.properties).length === 0 &&
    Object.keys(schema).every((key) =>
      key === "type" || key === "properties" || key === "$schema" ||
      (key === "additionalProperties" && schema[key] === false) ||
      (key === "required" && Array.isArray(schema[key]) && schema[key].length === 0)
    );
}

/** Reads the tool choice, and whether parallel calls are allowed. */
export function readToolChoice(choice: unknown): Pick<Conversation, "toolChoice" | "parallelToolCalls"> {
  if (!isObject(choice)) return { toolChoice: null, parallelToolCalls: null };
  const { disable_parallel_tool_use: disabled } = choice;
  return { toolChoice: choiceOf(choice), parallelToolCalls: typeof disabled === "boolean" ? !disabled : null };
}

function choiceOf(choice: JsonObject): ToolChoice | null {
  switch (choice.type) {
    case "auto":
    case "none":
      return { kind: choice.type };
    case "any":
      return { kind: "required" };
    case "tool":
      return { kind: "tool", tool: choice.name as string };
    default:
      return null;
  }
}
