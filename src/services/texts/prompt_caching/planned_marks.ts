import type { CacheMark, Conversation, Part, Tool, Turn } from "../../../conversation/neutral/conversation.ts";
import type { CachePlaces } from "../../../conversation/contract/upstream_format.ts";

/** Which beginnings of a prompt the vendor may have in its cache, because they were sent there shortly before. */
export interface SeenPrefixes {
  readonly tools: boolean;
  /** Tools and instructions. */
  readonly head: boolean;
  /** All of the prompt. */
  readonly whole: boolean;
}

/** The sizes of a prompt's beginning in tokens, estimated. */
export interface HeadTokens {
  readonly tools: number;
  /** With the tools. */
  readonly head: number;
}

/** A conversation with marks, and where they are, for people: `tools`, `system`, `turn 3`. */
export interface PlannedMarks {
  readonly conversation: Conversation;
  readonly places: readonly string[];
}

/** What decides on the marks of a conversation. */
export interface MarkFacts {
  readonly places: CachePlaces;
  readonly seen: SeenPrefixes;
  readonly tokens: HeadTokens;
}

/** Of text in most languages and of JSON, a token has at least so many. A mark below the least length has no effect. */
export const CHARACTERS_PER_TOKEN = 3;

/** What vendors count at least for a picture or a page. */
const MEDIUM_TOKENS = 200;

const MARK: CacheMark = { ttl: null };

/**
 * Marks a conversation's prefixes so that its vendor caches them: the tools, the instructions, the last turn of the
 * user, and the one before the model's last answer, which the request before ended with. Together at most four, as
 * vendors take. Only a conversation in which the model has answered is marked, and else what the vendor has seen: a
 * single request pays for no write. A caller's own marks stay alone. Source: docs/prompt-caching.md.
 */
export function plannedMarks(conversation: Conversation, { places, seen, tokens }: MarkFacts): PlannedMarks {
  if (hasOwnMarks(conversation)) return { conversation, places: [] };
  const { turns } = conversation;
  const last = turns.findLastIndex(({ role }) => role === "user");
  const answer = turns.slice(0, Math.max(0, last)).findLastIndex(({ role }) => role === "assistant");
  const earlier = turns.slice(0, Math.max(0, answer)).findLastIndex(({ role }) => role === "user");
  const isContinued = answer >= 0;
  const named: string[] = [];
  const tools = markedTools(conversation.tools, () => {
    const isWanted = places.tools && (isContinued || seen.tools) && tokens.tools >= places.minTokens;
    if (isWanted) named.push("tools");
    return isWanted;
  });
  const isHeadWanted = places.instructions && (isContinued || seen.head) && tokens.head >= places.minTokens;
  const instructions = isHeadWanted ? markedAtEnd(conversation.instructions, isMarkable(places)) : null;
  if (instructions !== null) named.push("system");
  const marked = [...turns];
  for (const index of isContinued ? [earlier, last] : seen.whole ? [last] : []) {
    const turn = turns[index];
    if (turn === undefined || tokensUpTo(turns, index, tokens.head) < places.minTokens) continue;
    const parts = markedAtEnd(turn.parts, isMarkable(places));
    if (parts === null) continue;
    marked[index] = { ...turn, parts };
    named.push(`turn ${index + 1}`);
  }
  if (named.length === 0) return { conversation, places: named };
  return {
    conversation: { ...conversation, tools, turns: marked, ...instructions !== null && { instructions } },
    places: named,
  };
}

/** Whether the caller has marked anything. */
export function hasOwnMarks({ tools, instructions, turns }: Conversation): boolean {
  return tools.some((tool) => tool.kind === "function" && tool.cache !== undefined) ||
    instructions.some(({ cache }) => cache !== undefined) ||
    turns.some(({ parts }) => parts.some(isMarked));
}

function isMarked(part: Part): boolean {
  if ("cache" in part && part.cache !== undefined) return true;
  return part.kind === "tool_result" && part.parts.some(({ cache }) => cache !== undefined);
}

function markedTools(tools: readonly Tool[], isWanted: () => boolean): readonly Tool[] {
  const last = tools.at(-1);
  return last?.kind === "function" && isWanted() ? tools.with(-1, { ...last, cache: MARK }) : tools;
}

/** The parts with a mark on the last one that takes one; null if none does. */
function markedAtEnd<P extends Part>(parts: readonly P[], isMarkable: (part: Part) => boolean): readonly P[] | null {
  const index = parts.findLastIndex(isMarkable);
  const part = parts[index];
  return part === undefined ? null : parts.with(index, { ...part, cache: MARK });
}

function isMarkable({ results }: CachePlaces): (part: Part) => boolean {
  return (part) => {
    if (part.kind === "text") return part.text.trim() !== "" && part.isInstruction !== true;
    if (part.kind === "tool_result") return results && part.parts.length > 0;
    return part.kind === "image" || part.kind === "file";
  };
}

/** The tokens of a prompt up to the end of a turn, estimated. */
function tokensUpTo(turns: readonly Turn[], index: number, headTokens: number): number {
  let tokens = headTokens;
  for (const { parts } of turns.slice(0, index + 1)) for (const part of parts) tokens += tokensOf(part);
  return tokens;
}

function tokensOf(part: Part): number {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "refusal":
      return part.text.length / CHARACTERS_PER_TOKEN;
    case "tool_call":
      return part.input.length / CHARACTERS_PER_TOKEN;
    case "tool_result":
      return part.parts.reduce((sum, inner) => sum + tokensOf(inner), 0);
    case "web_search":
      return 0;
    default:
      return MEDIUM_TOKENS;
  }
}
