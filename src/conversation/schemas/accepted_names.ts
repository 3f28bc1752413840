import type { Conversation, Part, Tool } from "../neutral/conversation.ts";
import type { ToolPropertyNames, WriteResult } from "../neutral/write_result.ts";
import { type PropertyNames, propertyNamesOf, withPropertyNames } from "./property_names.ts";
import { withRenamedKeys } from "./renamed_keys.ts";

/** A conversation with names of properties that its vendor accepts, and the way back. */
export interface AcceptedNames {
  readonly conversation: Conversation;
  /** To spread into the result of a writer; empty if no name changed. */
  readonly written: Pick<WriteResult<unknown>, "propertyNames">;
}

/**
 * Returns a conversation whose tools have only names of properties that Anthropic and Bedrock accept. Its earlier calls
 * get the same names. A conversation without other names is returned as it is.
 */
export function withAcceptedNames(conversation: Conversation): AcceptedNames {
  const names = new Map<string, PropertyNames>();
  const seen = new Set<string>();
  for (const tool of conversation.tools) {
    // Of tools with one name, the first is sent.
    if (tool.kind !== "function" || tool.parameters === null || seen.has(tool.name)) continue;
    seen.add(tool.name);
    const found = propertyNamesOf(tool.parameters);
    if (found !== null) names.set(tool.name, found);
  }
  if (names.size === 0) return { conversation, written: {} };
  const turns = conversation.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => renamedCall(part, names)),
  }));
  const tools = conversation.tools.map((tool) => renamedTool(tool, names));
  return { conversation: { ...conversation, tools, turns }, written: { propertyNames: ownNamesOf(names) } };
}

/** The caller's names by those on the wire, for each tool. */
function ownNamesOf(names: ReadonlyMap<string, PropertyNames>): ToolPropertyNames {
  return new Map([...names].map(([tool, { own }]) => [tool, own]));
}

function renamedTool(tool: Tool, names: ReadonlyMap<string, PropertyNames>): Tool {
  const found = names.get(tool.name);
  if (found === undefined || tool.kind !== "function" || tool.parameters === null) return tool;
  return { ...tool, parameters: withPropertyNames(tool.parameters, found) };
}

function renamedCall(part: Part, names: ReadonlyMap<string, PropertyNames>): Part {
  if (part.kind !== "tool_call" || part.custom) return part;
  const found = names.get(part.tool);
  return found === undefined ? part : { ...part, input: withRenamedKeys(part.input, found.wire) };
}
