import type { Tool } from "../../neutral/conversation.ts";

/**
 * The tools without repeated names, which vendors refuse: of tools with one name, the first stays.
 *
 * @param droppedFields Receives `tools` if a tool is left out that is not the same as the first one.
 */
export function uniqueTools(tools: readonly Tool[], droppedFields: Set<string>): readonly Tool[] {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    const first = named.get(tool.name);
    if (first === undefined) named.set(tool.name, tool);
    else if (JSON.stringify(first) !== JSON.stringify(tool)) droppedFields.add("tools");
  }
  return named.size === tools.length ? tools : [...named.values()];
}
