import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { OutputFormat, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { DEFAULT_OUTPUT_NAMES } from "../../../parts/request/output_format_name.ts";
import { listOf, objectOf, textOf } from "../../../neutral/wire_value.ts";
import { cacheOf } from "../shared/read_parts.ts";

/**
 * The tools of a request, including the legacy `functions`. The names of hosted tools are added to `unsupportedFields`.
 */
export function readTools(body: JsonObject, unsupportedFields: Set<string>): Tool[] {
  const tools: Tool[] = [];
  for (const entry of listOf(body.tools)) {
    const tool = readTool(objectOf(entry) ?? {}, unsupportedFields);
    if (tool) tools.push(tool);
  }
  for (const entry of listOf(body.functions)) tools.push(readFunction(objectOf(entry) ?? {}, {}));
  return tools;
}

function readTool(fields: JsonObject, unsupportedFields: Set<string>): Tool | null {
  switch (fields.type ?? "function") {
    case "function":
      return readFunction(objectOf(fields.function) ?? {}, fields);
    case "custom": {
      const custom = objectOf(fields.custom) ?? {};
      return {
        kind: "custom",
        name: textOf(custom.name),
        description: textOf(custom.description) || null,
        format: readFormat(objectOf(custom.format)),
      };
    }
    default:
      unsupportedFields.add(`tools.${textOf(fields.type)}`);
      return null;
  }
}

function readFunction(definition: JsonObject, fields: JsonObject): Tool {
  return {
    kind: "function",
    name: textOf(definition.name),
    description: textOf(definition.description) || null,
    parameters: objectOf(definition.parameters),
    strict: typeof definition.strict === "boolean" ? definition.strict : null,
    ...cacheOf(fields),
  };
}

/** Flattens a grammar: `{type, grammar: {syntax, definition}}` becomes `{type, syntax, definition}`. */
function readFormat(format: JsonObject | null): unknown {
  const grammar = objectOf(format?.grammar);
  return grammar ? { type: "grammar", ...grammar } : format;
}

/** Reads `tool_choice` or the legacy `function_call`; null leaves the choice to the vendor. */
export function readToolChoice(body: JsonObject, unsupportedFields: Set<string>): ToolChoice | null {
  const legacy = objectOf(body.function_call);
  const choice = body.tool_choice ?? (legacy ? { function: legacy } : body.function_call);
  if (choice === "auto" || choice === "none") return { kind: choice };
  if (choice === "required" || choice === "any") return { kind: "required" };
  const fields = objectOf(choice);
  if (!fields) return null;
  const allowed = objectOf(fields.allowed_tools);
  if (fields.type === "allowed_tools" && allowed) {
    const tools = listOf(allowed.tools).map((tool) => toolNameOf(objectOf(tool) ?? {})).filter((name) => name !== "");
    return { kind: "allowed", mode: allowed.mode === "required" ? "required" : "auto", tools };
  }
  const tool = toolNameOf(fields);
  if (tool !== "") return { kind: "tool", tool };
  unsupportedFields.add("tool_choice");
  return null;
}

function toolNameOf(choice: JsonObject): string {
  return textOf(objectOf(choice.function)?.name) || textOf(objectOf(choice.custom)?.name);
}

/** Reads `response_format`; null for plain text. */
export function readOutputFormat(format: unknown, unsupportedFields: Set<string>): OutputFormat | null {
  const fields = objectOf(format);
  switch (fields?.type) {
    case undefined:
    case "text":
      return null;
    case "json_object":
      return { kind: "json" };
    case "json_schema": {
      const { name, description, schema, strict } = objectOf(fields.json_schema) ?? {};
      const shape = objectOf(schema);
      if (!shape) {
        unsupportedFields.add("response_format.json_schema");
        return { kind: "json" };
      }
      return {
        kind: "json_schema",
        name: textOf(name) || DEFAULT_OUTPUT_NAMES.chat,
        description: textOf(description) || null,
        schema: shape,
        strict: typeof strict === "boolean" ? strict : null,
      };
    }
    default:
      unsupportedFields.add(`response_format.${textOf(fields?.type)}`);
      return null;
  }
}
