import type { OutputFormat } from "./conversation.ts";

/** What a shape of replies is called where its caller's format has no names for them, by that format's usual word. */
export const UNNAMED_FORMATS = { chat: "reply", messages: "output", content: "response" } as const;

const USUAL: ReadonlySet<string> = new Set(Object.values(UNNAMED_FORMATS));

/** Names what a format without names and descriptions of shapes loses of one. */
export function nameLostWords(format: OutputFormat | null, losses: Set<string>): void {
  if (format?.kind !== "json_schema") return;
  if (!USUAL.has(format.name)) losses.add("output_name");
  if (format.description !== null) losses.add("output_description");
}
