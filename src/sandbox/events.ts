import type { PartOpening, ReplyEvent } from "../conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../conversation/neutral/reply.ts";
import type { Usage } from "../conversation/neutral/usage.ts";

const MAX_PIECE_CHARACTERS = 16;

/**
 * Yields a reply as the events of its stream: texts word by word, arguments in short pieces.
 *
 * @param startUsage The usage that the vendor reports at the start.
 */
export function* eventsOf(reply: Reply, startUsage: Usage | null): Generator<ReplyEvent> {
  const { id, model, createdAt } = reply;
  yield { type: "start", id, model, createdAt, usage: startUsage };
  for (const [index, part] of reply.parts.entries()) yield* partEvents(part, index);
  yield { type: "finish", stop: reply.stop, usage: reply.usage };
}

function* partEvents(part: ReplyPart, index: number): Generator<ReplyEvent> {
  if (part.kind === "image") {
    yield { type: "image", index, image: part };
    return;
  }
  if (part.kind === "web_search") {
    yield { type: "web_search", index, search: part };
    return;
  }
  const signature = "signature" in part && part.signature
    ? [{ type: "part-signature" as const, index, signature: part.signature }]
    : [];
  yield { type: "part-start", index, part: openingOf(part) };
  // A call's signature is sent before its arguments. The signature of text or reasoning is sent when it is complete.
  if (part.kind === "tool_call") yield* signature;
  for (const text of piecesOf(part.kind === "tool_call" ? part.input : part.text)) {
    yield { type: "part-delta", index, text };
  }
  if (part.kind !== "tool_call") yield* signature;
  const cited = part.kind === "text" && part.citations ? { citations: part.citations } : {};
  yield { type: "part-end", index, ...cited };
}

function openingOf(part: Exclude<ReplyPart, { kind: "image" | "web_search" }>): PartOpening {
  switch (part.kind) {
    case "reasoning":
      return { kind: "reasoning", ...(part.redacted ? { redacted: true } : {}) };
    case "tool_call":
      return {
        kind: "tool_call",
        callId: part.callId,
        tool: part.tool,
        ...(part.custom ? { custom: true } : {}),
        ...(part.signature ? { isSigned: true } : {}),
      };
    default:
      return { kind: part.kind };
  }
}

/**
 * Yields words with the preceding space. Long words, such as JSON, are split. No piece is empty, and none splits a
 * character.
 */
function* piecesOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(/\s*\S+|\s+$/gu)) {
    const signs = [...word];
    for (let at = 0; at < signs.length; at += MAX_PIECE_CHARACTERS) {
      yield signs.slice(at, at + MAX_PIECE_CHARACTERS).join("");
    }
  }
}
