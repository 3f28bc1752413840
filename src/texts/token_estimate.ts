import type { Conversation, Part } from "../conversation/conversation.ts";
import { NO_USAGE, type Usage } from "../conversation/usage.ts";

/**
 * Token counts by a tokenizer library, for when no vendor tells: a client left in the middle of a stream, a reply came
 * without usage, or a model's vendor has no counter. The encoding is OpenAI's `o200k_base`; other vendors' tokenizers
 * differ from it by up to a quarter on ordinary text.
 */

const SAMPLE_CHARACTERS = 200_000;
const PIECE_CHARACTERS = 400;
const IMAGE_TOKENS = 1_000;
const TURN_TOKENS = 4;

let counter: Promise<(text: string) => number> | null = null;

/** The tokens of a text; of one beyond 200,000 characters, in proportion to its beginning. */
export async function countTextTokens(text: string): Promise<number> {
  // The vocabulary is two megabytes, so it is loaded when first needed.
  counter ??= import("gpt-tokenizer").then(({ countTokens }) => (piece) =>
    countTokens(piece, { allowedSpecial: "all" })
  );
  const count = await counter;
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  let tokens = 0;
  for (const piece of piecesOf(sample)) tokens += count(piece);
  return Math.ceil(tokens * text.length / Math.max(sample.length, 1));
}

/**
 * A text in pieces of some hundred characters, cut before a blank where there is one, as tokens do not reach across. The
 * tokenizer's time grows with the square of a run without blanks: two seconds for twenty thousand signs of Chinese.
 */
function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = Math.min(start + PIECE_CHARACTERS, text.length);
    const blank = end < text.length ? text.lastIndexOf(" ", end) : -1;
    const cut = blank > start ? blank : end;
    yield text.slice(start, cut);
    start = cut;
  }
}

/** The prompt tokens of a request: its text, its tools' definitions, a flat 1,000 for each picture or document page. */
export async function countPromptTokens(conversation: Conversation): Promise<number> {
  const texts = conversation.instructions.map(({ text }) => text);
  let flat = TURN_TOKENS * (conversation.turns.length + texts.length);
  for (const turn of conversation.turns) {
    for (const part of turn.parts) flat += gather(part, texts);
  }
  for (const tool of conversation.tools) texts.push(JSON.stringify(tool));
  return flat + await countTextTokens(texts.join("\n"));
}

/** A usage made of counts, marked as estimated. */
export function estimatedUsage(promptTokens: number, outputTokens: number): Usage {
  return { ...NO_USAGE, freshTokens: promptTokens, outputTokens, estimated: true };
}

/** Adds a part's text to the list; gives the tokens that are counted otherwise. */
function gather(part: Part, texts: string[]): number {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "refusal":
      texts.push(part.text);
      return 0;
    case "tool_call":
      texts.push(part.tool, part.input);
      return TURN_TOKENS;
    case "tool_result":
      return part.parts.reduce((sum, inner) => sum + gather(inner, texts), TURN_TOKENS);
    default:
      return IMAGE_TOKENS;
  }
}
