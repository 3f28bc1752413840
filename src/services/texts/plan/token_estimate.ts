import { countTokensInThread } from "../../../platform/workers/token_job.ts";
import type { Conversation, Part } from "../../../conversation/neutral/conversation.ts";
import type { Reply } from "../../../conversation/neutral/reply.ts";
import { NO_USAGE, type Usage } from "../../../conversation/neutral/usage.ts";

/**
 * Counts tokens with a tokenizer library if no vendor reports a count. Examples are a client that disconnects during a
 * stream, a reply without usage, or a vendor without a counter. The encoding is OpenAI's `o200k_base`; other vendors'
 * tokenizers differ from it by up to a quarter on ordinary text.
 */

const SAMPLE_CHARACTERS = 200_000;
const IMAGE_TOKENS = 1_000;
const MESSAGE_TOKENS = 4;

/** Counts the tokens of a text of at most 200,000 characters. */
export type CountTokens = (text: string) => Promise<number>;

let counter: CountTokens = countTokensInThread;

/**
 * Makes counts run outside this thread, where loading the tokenizer alone takes half a second.
 *
 * @returns A function that makes counts run in this thread again.
 */
export function useTokenCounter(other: CountTokens): () => void {
  counter = other;
  return () => {
    if (counter === other) counter = countTokensInThread;
  };
}

/** The beginning of a text, from which its tokens are extrapolated. */
export interface TextSample {
  /** At most 200,000 characters. */
  readonly text: string;
  /** The number of characters of the whole text. */
  readonly characters: number;
}

/** Returns the sample of a text. */
export function sampleOf(text: string): TextSample {
  return { text: text.slice(0, SAMPLE_CHARACTERS), characters: text.length };
}

/** Returns the number of tokens of a text. A text above 200,000 characters is extrapolated from its beginning. */
export async function countTextTokens(text: string): Promise<number> {
  return await countSampledTokens(sampleOf(text));
}

/** Returns the number of tokens of a sampled text. */
export async function countSampledTokens({ text, characters }: TextSample): Promise<number> {
  return text === "" ? 0 : Math.ceil(await counter(text) * characters / text.length);
}

/**
 * Returns the prompt tokens of a request: its text, its tools' definitions, and a flat 1,000 for each picture or
 * document page.
 */
export async function countPromptTokens(conversation: Conversation): Promise<number> {
  const texts = conversation.instructions.map(({ text }) => text);
  let flat = MESSAGE_TOKENS * (conversation.turns.length + texts.length);
  for (const message of conversation.turns) {
    for (const part of message.parts) flat += collectText(part, texts);
  }
  for (const tool of conversation.tools) texts.push(JSON.stringify(tool));
  return flat + await countTextTokens(texts.join("\n"));
}

/** The text of a reply whose tokens are counted. */
export function textOf(reply: Reply): string {
  return reply.parts.map((part) => part.kind === "tool_call" ? part.input : "text" in part ? part.text : "").join("\n");
}

/** The same for a reply that passes through: parts without text count as their JSON. */
export function passedTextOf({ parts }: Reply): string {
  return parts.map((part) => "text" in part ? part.text : JSON.stringify(part)).join("\n");
}

/** Returns a usage of counted tokens that is marked as estimated. */
export function estimatedUsage(promptTokens: number, outputTokens: number): Usage {
  return { ...NO_USAGE, freshTokens: promptTokens, outputTokens, estimated: true };
}

/** Adds a part's text to the list. Returns the tokens that are counted otherwise. */
function collectText(part: Part, texts: string[]): number {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "refusal":
      texts.push(part.text);
      return 0;
    case "tool_call":
      texts.push(part.tool, part.input);
      return MESSAGE_TOKENS;
    case "tool_result":
      return part.parts.reduce((sum, inner) => sum + collectText(inner, texts), MESSAGE_TOKENS);
    default:
      return IMAGE_TOKENS;
  }
}
