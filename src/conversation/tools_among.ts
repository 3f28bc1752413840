import type { Tool } from "./conversation.ts";

/** The tools that a choice names, in their order; a request may have thousands of both. */
export function toolsAmong(tools: readonly Tool[], names: readonly string[]): Tool[] {
  const named = new Set(names);
  return tools.filter(({ name }) => named.has(name));
}
