import type { PartOpening, ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../src/conversation/neutral/reply.ts";

/** A whole reply as a stream of events, each part in pieces of at most `size` UTF-16 units. */
export function streamOf(reply: Reply, size = 7): ReplyEvent[] {
  const { id, model, createdAt, parts, stop, usage } = reply;
  return [
    { type: "start", id, model, createdAt, usage: null },
    ...parts.flatMap((part, index) => eventsOf(part, index, size)),
    { type: "finish", stop, usage },
  ];
}

function eventsOf(part: ReplyPart, index: number, size: number): ReplyEvent[] {
  if (part.kind === "image") return [{ type: "image", index, image: part }];
  if (part.kind === "web_search") return [{ type: "web_search", index, search: part }];
  const text = part.kind === "tool_call" ? part.input : part.text;
  const pieces = Array.from(
    { length: Math.ceil(text.length / size) },
    (_, at) => text.slice(at * size, (at + 1) * size),
  );
  const signature = "signature" in part && part.signature
    ? [{ type: "part-signature" as const, index, signature: part.signature }]
    : [];
  const isCall = part.kind === "tool_call";
  return [
    { type: "part-start", index, part: openingOf(part) },
    ...(isCall ? signature : []), // vendors sign a call at its start, other parts at their end
    ...pieces.map((piece): ReplyEvent => ({ type: "part-delta", index, text: piece })),
    ...(isCall ? [] : signature),
    { type: "part-end", index, ...("citations" in part ? { citations: part.citations } : {}) },
  ];
}

function openingOf(part: Exclude<ReplyPart, { kind: "image" | "web_search" }>): PartOpening {
  switch (part.kind) {
    case "reasoning": {
      const { kind, redacted, id } = part;
      return { kind, ...(redacted ? { redacted } : {}), ...(id === undefined ? {} : { id }) };
    }
    case "tool_call": {
      const { kind, callId, tool, custom, signature } = part;
      return { kind, callId, tool, ...(custom ? { custom } : {}), ...(signature ? { isSigned: true } : {}) };
    }
    default:
      return { kind: part.kind };
  }
}
