import type { Tool } from "../../neutral/conversation.ts";

/** The tools with the given names, in the order of the tools. Linear, because a request may have thousands of both. */
export function selectedTools(tools: readonly Tool[], names: readonly string[]): Tool[] {
  const named = new Set(names);
  return tools.filter(({ name }) => named.has(name));
}
