import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, JsonSchema, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { CUSTOM_PARAMETERS, customDescription } from "../../../parts/request/custom_as_function.ts";
import { wireToolName } from "../shared/calls.ts";
import type { WrittenSearch } from "../shared/search.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { uniqueTools } from "../../../parts/request/unique_tools.ts";
import { dialectOf } from "./dialect.ts";

/** Writes a conversation's tools and the vendor's web search; null when there are none. */
export function writeTools(
  tools: readonly Tool[],
  target: RequestTarget,
  search: WrittenSearch | null,
  droppedFields: Set<string>,
): JsonObject[] | null {
  const declared = search === null || search.keepsFunctions ? tools : [];
  const functions = uniqueTools(declared, droppedFields).map((tool) => writeDeclaration(tool, target, droppedFields));
  const written = functions.length > 0 ? [{ functionDeclarations: functions }] : [];
  if (search !== null) return [search.tool, ...written];
  return written.length > 0 ? written : null;
}

function writeDeclaration(tool: Tool, target: RequestTarget, droppedFields: Set<string>): JsonObject {
  const description = tool.kind === "custom" ? customDescription(tool, droppedFields) : tool.description;
  if (tool.kind === "function" && tool.cache) droppedFields.add("cache_control");
  const parameters = tool.kind === "custom" ? CUSTOM_PARAMETERS : tool.parameters;
  const declaration: JsonObject = { name: wireToolName(tool.name) };
  if (description !== null) declaration.description = description;
  // Older models reject an object schema without properties, so a tool without arguments has no schema.
  if (parameters === null || hasNoArguments(parameters)) return declaration;
  const { schema, isChanged } = dialectOf(target).parameters(parameters, false);
  if (isChanged) droppedFields.add("tool_schema");
  return { ...declaration, [target.quirks.has("openapi_schemas") ? "parameters" : "parametersJsonSchema"]: schema };
}

const KEYWORDS_WITHOUT_ARGUMENTS = new Set([
  "$schema",
  "type",
  "properties",
  "required",
  "additionalProperties",
  "title",
]);

/** Whether a schema is that of a tool without arguments. */
export function hasNoArguments(schema: JsonSchema): boolean {
  const { type, properties, additionalProperties } = schema;
  return Object.keys(schema).every((keyword) => KEYWORDS_WITHOUT_ARGUMENTS.has(keyword)) &&
    (type === undefined || type === "object") &&
    (properties === undefined || (isObject(properties) && Object.keys(properties).length === 0)) &&
    (additionalProperties === undefined || additionalProperties === false);
}

/**
 * Writes `toolConfig`; null when nothing is set. Strict tools are requested by the mode `VALIDATED`, the closest
 * setting of this format, when all tools are strict and the model may choose whether to call one.
 */
export function writeToolConfig(
  conversation: Conversation,
  target: RequestTarget,
  search: WrittenSearch | null,
  droppedFields: Set<string>,
): JsonObject | null {
  const callsField = search?.returnsCalls ? { includeServerSideToolInvocations: true } : null;
  const { tools, toolChoice, parallelToolCalls } = conversation;
  if (tools.length === 0 && search === null) {
    if (toolChoice !== null && toolChoice.kind !== "auto" && toolChoice.kind !== "none") {
      droppedFields.add("tool_choice");
    }
    if (parallelToolCalls !== null) droppedFields.add("parallel_tool_calls");
    return null;
  }
  if (tools.length === 0 || search?.keepsFunctions === false) return callsField;
  if (parallelToolCalls === false) droppedFields.add("parallel_tool_calls");
  const strict = tools.filter((tool) => tool.kind === "function" && tool.strict === true).length;
  const isFree = toolChoice === null || toolChoice.kind === "auto";
  const isValidated = strict === tools.length && isFree && !target.quirks.has("no_validated_mode");
  if (strict > 0 && !isValidated && toolChoice?.kind !== "none") droppedFields.add("tool_strict");
  const config = isValidated ? { mode: "VALIDATED" } : toolChoice === null ? null : callingConfigOf(toolChoice, tools);
  return config === null ? callsField : { functionCallingConfig: config, ...callsField };
}

function callingConfigOf(choice: ToolChoice, tools: readonly Tool[]): JsonObject {
  switch (choice.kind) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [wireToolName(choice.tool)] };
    case "allowed": {
      const offered = new Set(tools.map(({ name }) => name));
      const declared = choice.tools.filter((name) => offered.has(name));
      if (declared.length === 0) return { mode: "NONE" };
      // AUTO accepts no list of names.
      return {
        mode: choice.mode === "required" ? "ANY" : "VALIDATED",
        allowedFunctionNames: declared.map(wireToolName),
      };
    }
  }
}
