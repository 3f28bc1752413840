import { Buffer } from "node:buffer";
import type { Conversation, Part, Source, ToolResultPart, Turn } from "../conversation/neutral/conversation.ts";

/** Returns the user's latest message, or null if there is none. */
function latestTurn({ turns }: Conversation): Turn | null {
  return turns.findLast(({ role }) => role === "user") ?? null;
}

/** Returns the text of the user's latest message without tool results. Empty if it has none. */
export function promptTextOf(conversation: Conversation): string {
  const parts = latestTurn(conversation)?.parts ?? [];
  return parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n");
}

/** Whether the latest message contains tool results. */
export function hasToolResults(conversation: Conversation): boolean {
  return latestTurn(conversation)?.parts.some(({ kind }) => kind === "tool_result") ?? false;
}

/**
 * Returns the simulated model's reply to the latest message: it repeats the tool results and the user's text, and names
 * the media.
 *
 * @param said The user's text without directives.
 */
export function echoOf(conversation: Conversation, said: string): string {
  const parts = latestTurn(conversation)?.parts ?? [];
  const results = parts.filter((part) => part.kind === "tool_result");
  const shown = [...results.flatMap((result) => result.parts), ...parts];
  const lines = [
    ...results.map(resultLine),
    ...(said === "" ? [] : [`You said: ${said}`]),
    ...mediaLines(shown),
  ];
  return lines.length === 0 ? "You said nothing." : lines.join("\n");
}

function resultLine({ tool, parts, isError }: ToolResultPart): string {
  const text = parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n");
  return `The tool ${tool ?? "of an unknown name"} ${isError ? "failed" : "answered"}: ${text}`;
}

const MEDIA = [
  { kind: "image", verb: "see", one: "image", many: "images" },
  { kind: "file", verb: "see", one: "file", many: "files" },
  { kind: "audio", verb: "hear", one: "recording", many: "recordings" },
  { kind: "video", verb: "see", one: "video", many: "videos" },
] as const;

function mediaLines(parts: readonly Part[]): string[] {
  return MEDIA.flatMap(({ kind, verb, one, many }) => {
    const sources = parts.flatMap((part) => part.kind === kind && "source" in part ? [describe(part.source)] : []);
    const noun = sources.length === 1 ? one : many;
    return sources.length === 0 ? [] : [`I ${verb} ${sources.length} ${noun} (${sources.join("; ")}).`];
  });
}

function describe(source: Source): string {
  if (source.kind === "url") return `${source.mediaType ?? "at"} ${source.url}`;
  return `${source.mediaType}, ${Buffer.byteLength(source.data, "base64")} bytes`;
}
