import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, OutputFormat, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { CUSTOM_PARAMETERS, customDescription } from "../../../parts/request/custom_as_function.ts";
import { objectOf } from "../../../neutral/wire_value.ts";
import { openAiDialectFor } from "../../../schemas/openai_dialect.ts";
import { selectedTools } from "../../../parts/request/selected_tools.ts";
import { takenChoice } from "./forced_calls.ts";
import { isOwnModel } from "../shared/model_rules.ts";
import { uniqueTools } from "../../../parts/request/unique_tools.ts";
import { toolNameFor } from "./writing.ts";
import type { Writing } from "./writing.ts";

/** Maximum length of a tool description at OpenAI. Source: Chat Completions reference, "Tools". */
const MAX_DESCRIPTION_CHARACTERS = 1024;
const CONTINUED = " … (continued in the system message)";

/** Ends of tool descriptions, by tool, that are moved to an instruction because the definition is limited. */
export type Overflow = Map<string, string>;

/**
 * Writes `tools`, `tool_choice` and `parallel_tool_calls`. Vendors reject the last two without tools.
 *
 * @param overflow Receives the ends of descriptions that are too long for a definition.
 */
export function writeTools(conversation: Conversation, writing: Writing, overflow: Overflow): JsonObject {
  const { parallelToolCalls } = conversation;
  const tools = uniqueTools(conversation.tools, writing.droppedFields);
  const choice = takenChoice(conversation, writing.target);
  if (choice !== conversation.toolChoice) writing.droppedFields.add("tool_choice");
  const offered = choice?.kind === "allowed" && writing.target.quirks.has("no_allowed_tools")
    ? selectedTools(tools, choice.tools)
    : tools;
  if (offered.length === 0) {
    if (choice && choice.kind !== "auto" && choice.kind !== "none") writing.droppedFields.add("tool_choice");
    if (parallelToolCalls !== null) writing.droppedFields.add("parallel_tool_calls");
    return {};
  }
  const written = choice && writeToolChoice(choice, offered, writing);
  return {
    tools: offered.map((tool) => writeTool(tool, writing, overflow)),
    ...(written !== null && { tool_choice: written }),
    ...(parallelToolCalls !== null && { parallel_tool_calls: parallelToolCalls }),
  };
}

function writeTool(tool: Tool, writing: Writing, overflow: Overflow): JsonObject {
  const name = toolNameFor(writing, tool.name);
  const asFunction = tool.kind === "custom" && writing.target.quirks.has("no_custom_tools");
  const text = asFunction ? customDescription(tool, writing.droppedFields) : tool.description;
  const description = writeDescription(name, text, writing, overflow);
  if (tool.kind === "function") return { type: "function", function: writeFunction(tool, name, description, writing) };
  if (asFunction) return { type: "function", function: { name, ...description, parameters: CUSTOM_PARAMETERS } };
  const format = writeFormat(objectOf(tool.format));
  return { type: "custom", custom: { name, ...description, ...(format && { format }) } };
}

function writeFunction(
  tool: Tool & { kind: "function" },
  name: string,
  description: JsonObject,
  { target, droppedFields }: Writing,
): JsonObject {
  if (tool.cache) droppedFields.add("cache_control");
  const { schema, isStrict, isChanged } = openAiDialectFor(target).parameters(tool.parameters, tool.strict === true);
  if (isChanged) droppedFields.add("tool_schema");
  if (tool.strict === true && !isStrict) droppedFields.add("tool_strict");
  const isNeeded = tool.parameters !== null || target.quirks.has("union_schemas");
  return {
    name,
    ...description,
    ...(isNeeded && { parameters: schema }),
    ...(tool.strict !== null && { strict: isStrict }),
  };
}

function writeDescription(name: string, text: string | null, { target }: Writing, overflow: Overflow): JsonObject {
  if (text === null) return {};
  if (target.quirks.has("long_tool_descriptions") || text.length <= MAX_DESCRIPTION_CHARACTERS) {
    return { description: text };
  }
  const room = MAX_DESCRIPTION_CHARACTERS - CONTINUED.length;
  // Half of a character is not text, and vendors refuse it.
  const end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
  overflow.set(name, text.slice(end));
  return { description: text.slice(0, end) + CONTINUED };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The instruction with the ends of long descriptions; null when there are none. */
export function overflowText(overflow: Overflow): string | null {
  if (overflow.size === 0) return null;
  const rests = [...overflow].map(([name, rest]) => `${name}, continued: ${rest}`);
  return ["Descriptions of tools that are too long for their definitions:", ...rests].join("\n\n");
}

/** Nests a grammar, which is flat in the neutral form. */
function writeFormat(format: JsonObject | null): JsonObject | null {
  if (format?.type !== "grammar") return format;
  const { type, ...grammar } = format;
  return { type, grammar };
}

function writeToolChoice(choice: ToolChoice, tools: readonly Tool[], writing: Writing): unknown {
  switch (choice.kind) {
    case "auto":
    case "none":
    case "required":
      return choice.kind;
    case "tool": {
      const tool = tools.find((offered) => offered.name === choice.tool);
      if (tool) return writeNamed(tool, writing);
      writing.droppedFields.add("tool_choice");
      return null;
    }
    case "allowed": {
      if (writing.target.quirks.has("no_allowed_tools")) return choice.mode;
      const allowed = selectedTools(tools, choice.tools).map((tool) => writeNamed(tool, writing));
      return { type: "allowed_tools", allowed_tools: { mode: choice.mode, tools: allowed } };
    }
  }
}

function writeNamed(tool: Tool, writing: Writing): JsonObject {
  const name = toolNameFor(writing, tool.name);
  const custom = tool.kind === "custom" && !writing.target.quirks.has("no_custom_tools");
  return custom ? { type: "custom", custom: { name } } : { type: "function", function: { name } };
}

/** Whether chat completions enforces the schema of a reply. */
export function enforcesSchemas({ target }: Pick<Writing, "target">): boolean {
  return target.facts.hasChatSchemas !== false || !isOwnModel(target);
}

/** Writes `response_format` with a sanitized schema name. `strict` is dropped for a schema that does not allow it. */
export function writeOutputFormat(format: OutputFormat | null, writing: Writing): JsonObject {
  if (format === null) return {};
  if (format.kind === "json") return { response_format: { type: "json_object" } };
  if (!enforcesSchemas(writing)) {
    writing.droppedFields.add("output_format"); // requested in the instructions only, so not enforced
    return { response_format: { type: "json_object" } };
  }
  const { schema, isStrict, isChanged } = openAiDialectFor(writing.target).output(
    format.schema,
    format.strict === true,
  );
  if (isChanged) writing.droppedFields.add("output_schema");
  if (format.strict === true && !isStrict) writing.droppedFields.add("output_strict");
  const name = format.name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "reply";
  const described = format.description === null ? {} : { description: format.description };
  return {
    response_format: {
      type: "json_schema",
      json_schema: { name, ...described, schema, ...(format.strict !== null && { strict: isStrict }) },
    },
  };
}
