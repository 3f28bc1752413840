import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { sanitizeName, truncateName } from "../../../parts/request/sanitized_name.ts";
import { CUSTOM_PARAMETERS, customDescription } from "../../../parts/request/custom_as_function.ts";
import type { Quirks } from "../../../contract/quirks.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import { openAiDialectFor } from "../../../schemas/openai_dialect.ts";
import type { SchemaDialect } from "../../../schemas/schema_dialect.ts";
import type { WrittenSearch } from "./search_tool.ts";
import { selectedTools } from "../../../parts/request/selected_tools.ts";
import { uniqueTools } from "../../../parts/request/unique_tools.ts";
import { isObject, objectsOf, textOf, textOrNull } from "../../../neutral/wire_value.ts";

/**
 * Separates a namespace from the name of a tool in it. No vendor allows the character in names, so it only comes from
 * here. Formats without namespaces sanitize such a name and map it back.
 */
const NAMESPACE_SEPARATOR = "/";

const MAX_CALL_ID_CHARACTERS = 64;

/**
 * Reads the tools of a request. Tools run by the vendor are added to `unsupportedFields`.
 *
 * @param search The tool that is read as the request's web search; null when it offers none.
 * @param path The path of the tools: `tools`, or below an item.
 */
export function readTools(
  tools: unknown,
  search: JsonObject | null,
  unsupportedFields: Set<string>,
  path: string = "tools",
): Tool[] {
  return objectsOf(tools).flatMap((tool): Tool[] => {
    switch (tool.type) {
      case "function":
        return [readFunction(tool, textOf(tool.name))];
      case "custom":
        return [{
          kind: "custom",
          name: textOf(tool.name),
          description: textOrNull(tool.description),
          format: tool.format ?? null,
        }];
      case "namespace":
        return readTools(tool.tools, null, unsupportedFields, `${path}.tools`).map((inner) => ({
          ...inner,
          name: namespacedName(textOf(tool.name), inner.name),
          description: [textOf(tool.description), inner.description].filter(Boolean).join("\n\n") || null,
        }));
      default:
        if (tool !== search) unsupportedFields.add(`${path}.${textOf(tool.type)}`);
        return [];
    }
  });
}

function readFunction(tool: JsonObject, name: string): Tool {
  return {
    kind: "function",
    name,
    description: textOrNull(tool.description),
    parameters: isObject(tool.parameters) ? tool.parameters : null,
    strict: typeof tool.strict === "boolean" ? tool.strict : null,
  };
}

/** The neutral name of a tool in a namespace. */
export function namespacedName(namespace: string, name: string): string {
  return `${namespace}${NAMESPACE_SEPARATOR}${name}`;
}

/** The caller's name of a tool, with its namespace separate if it has one. */
export function callerNameOf(tool: string): { name: string; namespace?: string } {
  const separator = tool.indexOf(NAMESPACE_SEPARATOR);
  return separator < 0 ? { name: tool } : { name: tool.slice(separator + 1), namespace: tool.slice(0, separator) };
}

/** Reads `tool_choice`; null for a tool run by the vendor, which is added to `unsupportedFields`. */
export function readToolChoice(choice: unknown, unsupportedFields: Set<string>): ToolChoice | null {
  if (choice === "auto" || choice === "none" || choice === "required") return { kind: choice };
  if (!isObject(choice)) return null;
  if (choice.type === "function" || choice.type === "custom") return { kind: "tool", tool: textOf(choice.name) };
  if (choice.type === "allowed_tools") {
    const tools = objectsOf(choice.tools).map((tool) => textOf(tool.name)).filter((name) => name !== "");
    return { kind: "allowed", mode: choice.mode === "required" ? "required" : "auto", tools };
  }
  unsupportedFields.add("tool_choice");
  return null;
}

/**
 * A tool's name in the alphabet of this format: letters, digits, `_` and `-`, at most 64 characters.
 * Source: Responses API reference, "Function".
 */
export function wireToolName(name: string): string {
  return sanitizeName(name, 64);
}

/**
 * A call's id of at most 64 characters; a longer one is cut and ends in a hash of the whole.
 * Source: Responses API reference, "call_id".
 */
export function wireCallId(callId: string): string {
  if (callId === "") return "call";
  return truncateName(callId, MAX_CALL_ID_CHARACTERS);
}

/**
 * Writes one tool. `strict` is always set, because its default is true in this format and false in others. It is false
 * for a schema that the vendor rejects as strict.
 */
export function writeTool(tool: Tool, name: string, dialect: SchemaDialect, droppedFields: Set<string>): JsonObject {
  const described = tool.description === null ? {} : { description: tool.description };
  if (tool.kind === "custom") {
    return { type: "custom", name, ...described, ...(tool.format ? { format: tool.format } : {}) };
  }
  if (tool.cache) droppedFields.add("cache_control");
  const { schema, isStrict, isChanged } = dialect.parameters(tool.parameters, tool.strict === true);
  if (isChanged) droppedFields.add("tool_schema");
  if (tool.strict === true && !isStrict) droppedFields.add("tool_strict");
  return { type: "function", name, ...described, parameters: schema, strict: isStrict };
}

/** Writes a custom tool for a vendor that has only functions. */
function writeAsFunction(
  tool: Tool & { readonly kind: "custom" },
  name: string,
  droppedFields: Set<string>,
): JsonObject {
  const text = customDescription(tool, droppedFields);
  const description = text === null ? {} : { description: text };
  return { type: "function", name, ...description, parameters: CUSTOM_PARAMETERS, strict: false };
}

/** The tools and tool choice of a request. */
export interface WrittenTools {
  readonly fields: JsonObject;
  /** The vendor's name of a tool by its neutral name. */
  nameOf(tool: string): string;
  /** Neutral names by the vendor's, where they differ. */
  readonly renamed: ReadonlyMap<string, string>;
}

/**
 * Writes the tools and tool choice of a request.
 *
 * @param search The web search run by the vendor, offered after the caller's tools.
 */
export function writeTools(
  conversation: Conversation,
  target: RequestTarget,
  search: WrittenSearch | null,
  droppedFields: Set<string>,
): WrittenTools {
  const renamed = new Map<string, string>();
  const nameOf = (tool: string) => {
    const name = wireToolName(tool);
    if (name !== tool) renamed.set(name, tool);
    return name;
  };
  const choice = conversation.toolChoice;
  const dialect = openAiDialectFor(target);
  const { quirks } = target;
  const offersOnlyAllowed = quirks.has("no_allowed_tools");
  const tools = uniqueTools(conversation.tools, droppedFields);
  const offered = offersOnlyAllowed && choice?.kind === "allowed" ? selectedTools(tools, choice.tools) : tools;
  if (offered.length === 0 && search === null) {
    if (choice !== null && choice.kind !== "auto" && choice.kind !== "none") droppedFields.add("tool_choice");
    if (conversation.parallelToolCalls !== null) droppedFields.add("parallel_tool_calls");
    return { fields: {}, nameOf, renamed };
  }
  const own = offered.map((tool) =>
    tool.kind === "custom" && quirks.has("no_custom_tools")
      ? writeAsFunction(tool, nameOf(tool.name), droppedFields)
      : writeTool(tool, nameOf(tool.name), dialect, droppedFields)
  );
  const fields: JsonObject = { tools: search === null ? own : [...own, search.tool], ...search?.fields };
  if (search?.choice) fields.tool_choice = search.choice;
  else if (choice !== null) {
    fields.tool_choice = offersOnlyAllowed && choice.kind === "allowed"
      ? choice.mode
      : withSearchAllowed(writeToolChoice(choice, asWritten(offered, quirks), nameOf), search);
  }
  if (conversation.parallelToolCalls !== null) fields.parallel_tool_calls = conversation.parallelToolCalls;
  return { fields, nameOf, renamed };
}

/** The kinds of tools as a vendor without custom tools has them. */
function asWritten(tools: readonly Tool[], quirks: Quirks): readonly Pick<Tool, "name" | "kind">[] {
  return quirks.has("no_custom_tools") ? tools.map(({ name }) => ({ name, kind: "function" })) : tools;
}

/** The inverse of {@linkcode readToolChoice}. */
export function writeToolChoice(
  choice: ToolChoice,
  tools: readonly Pick<Tool, "name" | "kind">[],
  nameOf: (tool: string) => string,
): unknown {
  const named = (tool: string) => ({
    type: tools.find(({ name }) => name === tool)?.kind ?? "function",
    name: nameOf(tool),
  });
  switch (choice.kind) {
    case "tool":
      return named(choice.tool);
    case "allowed":
      return { type: "allowed_tools", mode: choice.mode, tools: choice.tools.map(named) };
    default:
      return choice.kind;
  }
}

/** Adds the search to a choice among allowed tools: without it the vendor would not search. */
function withSearchAllowed(choice: unknown, search: WrittenSearch | null): unknown {
  if (search === null || !isObject(choice) || choice.type !== "allowed_tools") return choice;
  return { ...choice, tools: [...objectsOf(choice.tools), { type: search.tool.type }] };
}
