import type { Part, TextPart } from "../../neutral/conversation.ts";

/**
 * The parts of one message of the assistant, with adjacent plain texts as one. A text that a vendor wrote in one piece
 * is often kept by clients in the pieces of its stream; the vendor's cache finds it only as it was written.
 */
export function joinedTexts<P extends Part>(parts: readonly P[]): P[] {
  const joined: P[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last !== undefined && isPlain(last) && isPlain(part)) {
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

/** Whether a part is text with nothing that belongs to exactly this piece. */
function isPlain(part: Part): part is TextPart {
  return part.kind === "text" && !part.signature && !part.cache && !part.citations && !part.logprobs;
}
