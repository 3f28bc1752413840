import type { Reply } from "../conversation/reply.ts";

/** The text of a reply whose tokens are counted. */
export function textOf(reply: Reply): string {
  return reply.parts.map((part) => part.kind === "tool_call" ? part.input : "text" in part ? part.text : "").join("\n");
}

/** The same for a reply that passes through: parts without text count as their JSON. */
export function passedTextOf({ parts }: Reply): string {
  return parts.map((part) => "text" in part ? part.text : JSON.stringify(part)).join("\n");
}
