import type { Conversation, Tool, ToolChoice } from "../../../neutral/conversation.ts";
import { CUSTOM_PARAMETERS, customDescription } from "../../../parts/request/custom_as_function.ts";
import { objectSchema } from "../../../schemas/object_schema.ts";
import { sanitizeName } from "../../../parts/request/sanitized_name.ts";
import { selectedTools } from "../../../parts/request/selected_tools.ts";
import { uniqueTools } from "../../../parts/request/unique_tools.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Writing } from "./writing.ts";

const MAX_NAME_CHARACTERS = 64;

/** A tool's name in the alphabet of this format: letters, digits, `_` and `-`, up to 64. Equal names stay equal. */
export function wireToolName(name: string): string {
  return sanitizeName(name, MAX_NAME_CHARACTERS);
}

/** A call's id in the alphabet of this format. Equal ids stay equal, different ones different. */
export function wireCallId(callId: string): string {
  return sanitizeName(callId, MAX_NAME_CHARACTERS);
}

/**
 * Writes `toolConfig`, as a field to spread; empty without tools.
 *
 * @param called Wire names of tools that the history calls: with calls, the vendor requires at least one definition.
 */
export function writeToolConfig(
  conversation: Conversation,
  called: ReadonlySet<string>,
  writing: Writing,
): { toolConfig?: JsonObject } {
  const { toolChoice, parallelToolCalls } = conversation;
  const { droppedFields } = writing;
  const offered = offeredTools(conversation, droppedFields);
  if (offered.length === 0) {
    if (toolChoice !== null && toolChoice.kind !== "auto" && toolChoice.kind !== "none") {
      droppedFields.add("tool_choice");
    }
    if (parallelToolCalls !== null) droppedFields.add("parallel_tool_calls");
    return called.size === 0 ? {} : { toolConfig: { tools: [...called].map(placeholderFor) } };
  }
  if (parallelToolCalls === false) droppedFields.add("parallel_tool_calls");
  // The format has no choice of no tool: it is expressed by no tools, which a history with calls does not allow.
  if (toolChoice?.kind === "none" && called.size === 0) return {};
  const choice = toolChoice === null ? null : choiceOf(toolChoice, offered, droppedFields);
  const tools = offered.map((tool) => writeTool(tool, writing));
  return { toolConfig: { tools, ...(choice && { toolChoice: choice }) } };
}

/** A tool of the history that is not offered any more. */
function placeholderFor(name: string): JsonObject {
  return { toolSpec: { name, inputSchema: { json: objectSchema(null) } } };
}

/** The tools without repeated names; only the allowed ones if the choice lists some. */
function offeredTools({ tools, toolChoice }: Conversation, droppedFields: Set<string>): readonly Tool[] {
  const offered = uniqueTools(tools, droppedFields);
  if (toolChoice?.kind !== "allowed") return offered;
  const allowed = selectedTools(offered, toolChoice.tools);
  if (allowed.length > 0) return allowed;
  droppedFields.add("tool_choice");
  return offered;
}

function writeTool(tool: Tool, { dialect, droppedFields }: Writing): JsonObject {
  const name = wireToolName(tool.name);
  if (tool.kind === "custom") {
    const description = customDescription(tool, droppedFields);
    return { toolSpec: { name, ...(description && { description }), inputSchema: { json: CUSTOM_PARAMETERS } } };
  }
  if (tool.cache) droppedFields.add("cache_control");
  const { schema, isStrict, isChanged } = dialect.parameters(tool.parameters, tool.strict === true);
  if (tool.strict === true && !isStrict) droppedFields.add("tool_strict");
  if (isChanged) droppedFields.add("tool_schema");
  return {
    toolSpec: {
      name,
      ...(tool.description ? { description: tool.description } : {}),
      inputSchema: { json: schema },
      ...(isStrict && { strict: true }),
    },
  };
}

function choiceOf(choice: ToolChoice, offered: readonly Tool[], droppedFields: Set<string>): JsonObject {
  switch (choice.kind) {
    case "auto":
      return { auto: {} };
    case "none":
      droppedFields.add("tool_choice");
      return { auto: {} };
    case "required":
      return { any: {} };
    case "tool":
      if (offered.some(({ name }) => name === choice.tool)) return { tool: { name: wireToolName(choice.tool) } };
      droppedFields.add("tool_choice");
      return { auto: {} };
    case "allowed": {
      const isKept = selectedTools(offered, choice.tools).length > 0;
      return choice.mode === "required" && isKept ? { any: {} } : { auto: {} };
    }
  }
}
