import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { JsonSchema, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { field, objectsIn, otherFields } from "../shared/fields.ts";
import { jsonSchemaOf } from "../shared/schema.ts";

const KNOWN_IN_DECLARATION = new Set(["name", "description", "parameters", "parametersJsonSchema"]);

/** Keys of tools that are read. Of several web searches the first is read. */
const READ_KEYS = new Set(["functionDeclarations", "googleSearch"]);

/**
 * The functions declared in checked `tools`.
 *
 * @param unsupportedFields Receives the tools run by the vendor, by name: `tools.googleSearch`.
 */
export function readTools(tools: unknown, unsupportedFields: Set<string>): Tool[] {
  const read: Tool[] = [];
  for (const tool of objectsIn(tools)) {
    for (const key of otherFields(tool, READ_KEYS)) unsupportedFields.add(`tools.${key}`);
    for (const declaration of objectsIn(field(tool, "functionDeclarations"))) {
      for (const key of otherFields(declaration, KNOWN_IN_DECLARATION)) {
        unsupportedFields.add(`tools.functionDeclarations.${key}`);
      }
      read.push({
        kind: "function",
        name: textOrNull(declaration.name) ?? "",
        description: textOrNull(declaration.description),
        parameters: parametersIn(declaration),
        strict: null,
      });
    }
  }
  return read;
}

function parametersIn(declaration: JsonObject): JsonSchema | null {
  const jsonSchema = field(declaration, "parametersJsonSchema");
  if (isObject(jsonSchema)) return jsonSchema;
  return isObject(declaration.parameters) ? jsonSchemaOf(declaration.parameters) : null;
}

/**
 * The tool choice in a checked `toolConfig`; null when it has none. `VALIDATED` without names is read as `auto`, and
 * the mode is reported as dropped, because it enforces the schemas more strictly.
 */
export function readToolChoice(toolConfig: unknown, unsupportedFields: Set<string>): ToolChoice | null {
  if (!isObject(toolConfig)) return null;
  const config = field(toolConfig, "functionCallingConfig");
  if (!isObject(config)) return null;
  const allowed = field(config, "allowedFunctionNames");
  const names = Array.isArray(allowed) ? allowed.filter((name) => typeof name === "string") : [];
  const mode = typeof config.mode === "string" ? config.mode.toUpperCase() : "MODE_UNSPECIFIED";
  switch (mode) {
    case "ANY":
      if (names.length === 0) return { kind: "required" };
      return names.length === 1
        ? { kind: "tool", tool: names[0]! }
        : { kind: "allowed", mode: "required", tools: names };
    case "VALIDATED":
      if (names.length > 0) return { kind: "allowed", mode: "auto", tools: names };
      unsupportedFields.add("toolConfig.functionCallingConfig.mode");
      return { kind: "auto" };
    case "NONE":
      return { kind: "none" };
    case "AUTO":
      return { kind: "auto" };
    case "MODE_UNSPECIFIED":
      return null;
    default:
      unsupportedFields.add("toolConfig.functionCallingConfig.mode");
      return null;
  }
}
