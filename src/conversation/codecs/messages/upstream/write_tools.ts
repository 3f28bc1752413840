import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { CUSTOM_PARAMETERS, customDescription } from "../../../parts/request/custom_as_function.ts";
import { sanitizeName } from "../../../parts/request/sanitized_name.ts";
import { objectSchema } from "../../../schemas/object_schema.ts";
import type { AcceptedSchema, SchemaDialect } from "../../../schemas/schema_dialect.ts";
import { selectedTools } from "../../../parts/request/selected_tools.ts";
import { type FieldNames, writeCache } from "../shared/fields.ts";
import type { ModelTraits } from "./model_traits.ts";
import { uniqueTools } from "../../../parts/request/unique_tools.ts";
import type { WrittenSearch } from "./write_search.ts";

const MAX_NAME_CHARACTERS = 128;

const MAX_ID_CHARACTERS = 64;

/** A tool's name in the alphabet of this format: letters, digits, `_` and `-`, up to 128. Equal names stay equal. */
export function wireToolName(name: string): string {
  return sanitizeName(name, MAX_NAME_CHARACTERS);
}

/** A call's id in the alphabet of this format. Equal ids stay equal, different ones different. */
export function wireCallId(callId: string): string {
  return sanitizeName(callId, MAX_ID_CHARACTERS);
}

/** What the schemas of a request are written for. */
export interface Writing {
  readonly traits: ModelTraits;
  readonly dialect: SchemaDialect;
  /** The schema of the reply; null where none is requested. */
  readonly format: AcceptedSchema | null;
}

/** Tools and tool choice in this format; absent fields are not needed. */
export interface WrittenTools {
  /** Definitions with sanitized names. */
  readonly tools?: JsonObject[];
  /** Only set with tools. */
  readonly tool_choice?: JsonObject;
}

/**
 * Writes the tools of a request and the choice among them.
 *
 * @param used Wire names of tools that the history calls: with calls, the vendor requires at least one definition.
 * @param search The web search run by the vendor, offered after the caller's tools.
 */
export function writeTools(
  conversation: Conversation,
  { traits, dialect }: Pick<Writing, "traits" | "dialect">,
  used: ReadonlySet<string>,
  search: WrittenSearch | null,
  droppedFields: FieldNames,
): WrittenTools {
  const offered = offeredTools(conversation, search !== null, droppedFields);
  if (offered.length === 0 && search === null) {
    const { toolChoice, parallelToolCalls } = conversation;
    if (toolChoice !== null && toolChoice.kind !== "auto" && toolChoice.kind !== "none") {
      droppedFields.add("tool_choice");
    }
    if (parallelToolCalls !== null) droppedFields.add("parallel_tool_calls");
    if (used.size === 0) return {};
    const tools = [...used].map((name) => ({ name, input_schema: objectSchema(null) }));
    return { tools, tool_choice: { type: "none" } };
  }
  const own = offered.map((tool) => writeTool(tool, dialect, droppedFields));
  const choice = permittedChoice(writeChoice(conversation, offered, search, droppedFields), traits, droppedFields);
  return {
    tools: search === null ? own : [...own, search.tool],
    ...(choice ? { tool_choice: choice } : {}),
  };
}

/** The tools without repeated names; only the allowed ones if the choice lists some. */
function offeredTools(
  { tools, toolChoice }: Conversation,
  hasSearch: boolean,
  droppedFields: FieldNames,
): readonly Tool[] {
  const offered = uniqueTools(tools, droppedFields);
  if (toolChoice?.kind !== "allowed") return offered;
  const allowed = selectedTools(offered, toolChoice.tools);
  if (allowed.length > 0 || hasSearch) return allowed;
  droppedFields.add("tool_choice");
  return offered;
}

function writeTool(tool: Tool, dialect: SchemaDialect, droppedFields: FieldNames): JsonObject {
  const name = wireToolName(tool.name);
  if (tool.kind === "custom") {
    const description = customDescription(tool, droppedFields);
    return { name, ...(description ? { description } : {}), input_schema: CUSTOM_PARAMETERS };
  }
  const { schema, isStrict, isChanged } = dialect.parameters(tool.parameters, tool.strict === true);
  if (tool.strict === true && !isStrict) droppedFields.add("tool_strict");
  if (isChanged) droppedFields.add("tool_schema");
  return {
    name,
    ...descriptionOf(tool),
    input_schema: schema,
    ...(isStrict ? { strict: true } : {}),
    ...writeCache(tool.cache),
  };
}

function descriptionOf(tool: Tool): { description?: string } {
  return tool.description ? { description: tool.description } : {};
}

/** A model at which calls cannot be forced chooses by itself. */
function permittedChoice(
  choice: JsonObject | null,
  { forcedCalls }: ModelTraits,
  droppedFields: FieldNames,
): JsonObject | null {
  if (forcedCalls !== "never" || (choice?.type !== "any" && choice?.type !== "tool")) return choice;
  droppedFields.add("tool_choice");
  const { name: _name, ...others } = choice;
  return { ...others, type: "auto" };
}

function writeChoice(
  { toolChoice, parallelToolCalls }: Conversation,
  offered: readonly Tool[],
  search: WrittenSearch | null,
  droppedFields: FieldNames,
): JsonObject | null {
  const own = toolChoice === null ? null : choiceBody(toolChoice, offered, droppedFields);
  const choice = search?.isForced ? { type: "tool", name: search.tool.name } : own;
  if (parallelToolCalls !== false || choice?.type === "none") return choice;
  return { ...(choice ?? { type: "auto" }), disable_parallel_tool_use: true };
}

function choiceBody(choice: ToolChoice, offered: readonly Tool[], droppedFields: FieldNames): JsonObject {
  switch (choice.kind) {
    case "auto":
    case "none":
      return { type: choice.kind };
    case "required":
      return { type: "any" };
    case "tool":
      if (offered.some((tool) => tool.name === choice.tool)) return { type: "tool", name: wireToolName(choice.tool) };
      droppedFields.add("tool_choice");
      return { type: "auto" };
    case "allowed": {
      const isKept = selectedTools(offered, choice.tools).length > 0;
      return { type: choice.mode === "required" && isKept ? "any" : "auto" };
    }
  }
}
