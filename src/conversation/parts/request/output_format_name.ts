import type { OutputFormat } from "../../neutral/conversation.ts";

/** Names of output formats read from a caller's format that has no such names. */
export const DEFAULT_OUTPUT_NAMES = { chat: "reply", messages: "output", content: "response" } as const;

const DEFAULT_NAME: ReadonlySet<string> = new Set(Object.values(DEFAULT_OUTPUT_NAMES));

/** Adds the name and description of an output format to the dropped fields, for formats that have neither. */
export function addDroppedFormatFields(format: OutputFormat | null, droppedFields: Set<string>): void {
  if (format?.kind !== "json_schema") return;
  if (!DEFAULT_NAME.has(format.name)) droppedFields.add("output_name");
  if (format.description !== null) droppedFields.add("output_description");
}
