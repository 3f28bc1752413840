import type { CacheMark, Conversation, Part, Tool } from "../conversation/neutral/conversation.ts";
import type { ReplyPart } from "../conversation/neutral/reply.ts";

/** A section of a prompt, in the order in which a vendor reads it. */
export interface Segment {
  /** The text that identifies it. */
  readonly text: string;
  readonly tokens: number;
  readonly cache: CacheMark | null;
}

const MEDIUM_TOKENS = 100;

/** Returns the tokens of a text: its words. */
export function tokensOf(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** Returns the tokens of JSON text: its runs of letters and digits, because it may have no space. */
function jsonTokensOf(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}

/** Returns a prompt in segments: tools, instructions, then all messages. */
export function segmentsOf({ tools, instructions, turns }: Conversation): Segment[] {
  return [
    ...tools.map(toolSegment),
    ...instructions.map((part) => partSegment(part, "instructions")),
    ...turns.flatMap(({ role, parts }) => parts.map((part) => partSegment(part, role))),
  ];
}

function toolSegment(tool: Tool): Segment {
  const { cache = null, ...rest } = tool.kind === "function" ? tool : { ...tool, cache: undefined };
  const text = JSON.stringify(rest);
  return { text, tokens: jsonTokensOf(text), cache: cache ?? null };
}

function partSegment(part: Part, role: string): Segment {
  const { cache, ...rest } = { cache: undefined, ...part };
  return { text: `${role} ${JSON.stringify(rest)}`, tokens: partTokensOf(part), cache: cache ?? null };
}

function partTokensOf(part: Part): number {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "refusal":
      return tokensOf(part.text);
    case "tool_call":
      return callTokensOf(part.tool, part.input);
    case "tool_result":
      return part.parts.reduce((sum, inner) => sum + partTokensOf(inner), 0);
    case "web_search":
      return 0;
    default:
      return MEDIUM_TOKENS;
  }
}

function callTokensOf(tool: string, input: string): number {
  return tokensOf(tool) + jsonTokensOf(input);
}

/** Returns all tokens of a prompt, at least 1. */
export function promptTokensIn(segments: readonly Segment[]): number {
  return Math.max(1, segments.reduce((sum, { tokens }) => sum + tokens, 0));
}

/** Returns the tokens of a reply's visible parts. */
export function replyTokensOf(parts: readonly ReplyPart[]): number {
  return parts.reduce((sum, part) => sum + partTokensOf(part), 0);
}
