import fc from "fast-check";
import { joinedTexts } from "../../../../src/conversation/parts/request/joined_texts.ts";
import type {
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../../../src/conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart, Stop } from "../../../../src/conversation/neutral/reply.ts";
import type { ReasoningSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import type { Usage } from "../../../../src/conversation/neutral/usage.ts";

/** Non-empty text with all kinds of characters. */
export const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });

const base64 = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => btoa(String.fromCharCode(...bytes)));

/** A signature of this vendor. */
export const signature: fc.Arbitrary<ReasoningSignature> = base64.map((value) => ({
  format: "content",
  issuer: null,
  value: `E${value}`,
}));

const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/);
const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
// JSON has no negative zero, so arguments are serialized once.
const input = fc.oneof(
  args.map((object) => JSON.stringify(object)),
  fc.constantFrom('{"cut":', "not json", "[1]"),
);

const image = base64.map((data) => ({
  kind: "image" as const,
  source: { kind: "base64" as const, mediaType: "image/png", data },
}));
const file = base64.map((data) => ({
  kind: "file" as const,
  source: { kind: "base64" as const, mediaType: "application/pdf", data },
  name: null,
}));

const textPart = fc.oneof(
  text.map((value) => ({ kind: "text" as const, text: value })),
  fc.tuple(text, signature).map(([value, proof]) => ({ kind: "text" as const, text: value, signature: proof })),
);

const reasoning: fc.Arbitrary<ReasoningPart> = fc.oneof(
  text.map((value) => ({ kind: "reasoning" as const, text: value })),
  fc.tuple(fc.constantFrom("", "hm"), signature).map(([value, proof]) => ({
    kind: "reasoning" as const,
    text: value,
    signature: proof,
  })),
);

/** Joins adjacent reasoning up to a signature, because the format has no boundary there. */
function withoutStraySignatures<T extends Part>(parts: readonly T[]): T[] {
  return parts.filter((part, at) => {
    const before = at === 0 ? null : parts[at - 1];
    return part.kind !== "reasoning" || before?.kind !== "reasoning" || "signature" in before;
  });
}

const result = fc.tuple(fc.oneof(text, args.map((object) => JSON.stringify(object))), fc.boolean(), fc.boolean());

/** One agent step: text, calls, and all results in order. `draw` makes the ids unique. */
const step = fc.tuple(
  fc.array(fc.oneof(textPart, image, file), { minLength: 1, maxLength: 3 }),
  fc.array(fc.oneof(reasoning, textPart), { minLength: 1, maxLength: 3 }).map(withoutStraySignatures),
  fc.array(fc.tuple(name, input, fc.option(signature, { nil: undefined }), result), { maxLength: 3 }),
);

/** Turns that this format can express in full: alternating, every call followed by its result, in order. */
export const turns: fc.Arbitrary<Turn[]> = fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => {
  const said: { role: "user" | "assistant"; parts: Part[] }[] = [];
  let answers: Part[] = [];
  steps.forEach(([asked, thought, called], at) => {
    said.push({ role: "user", parts: [...answers, ...asked.map(unsigned)] });
    const calls = called.map(([tool, written, proof], index): ToolCallPart => ({
      kind: "tool_call",
      callId: `call_${at}_${index}`,
      tool,
      input: written,
      ...(proof ? { signature: proof } : {}),
    }));
    // A turn with only unsigned reasoning is not written.
    said.push({ role: "assistant", parts: joinedTexts([...apart(thought), { kind: "text", text: "So:" }, ...calls]) });
    answers = called.map(([tool, , , [answer, isError, withImage]], index): ToolResultPart => ({
      kind: "tool_result",
      callId: `call_${at}_${index}`,
      tool,
      parts: withImage ? [{ kind: "text", text: answer }, PIXEL] : [{ kind: "text", text: answer }],
      isError,
    }));
  });
  return [...said, { role: "user", parts: [...answers, { kind: "text", text: "Go on" }] }];
});

const PIXEL = {
  kind: "image" as const,
  source: { kind: "base64" as const, mediaType: "image/png", data: "iVBORw0KGgo=" },
};

/** Separates reasoning parts, because the format joins a part to an unsigned one before it. */
function apart(parts: readonly Part[]): Part[] {
  return parts.filter((part, at) => {
    const previous = parts[at - 1];
    const joins = previous?.kind === "reasoning" && !previous.signature;
    return !(joins && part.kind === "reasoning");
  });
}

/** Removes signatures, which user text does not have. */
function unsigned(part: Part): Part {
  if (part.kind !== "text") return part;
  return { kind: "text", text: part.text };
}

const usage: fc.Arbitrary<Usage | null> = fc.option(
  fc.record({
    freshTokens: fc.nat(10000),
    cacheReadTokens: fc.nat(10000),
    cacheWrite5mTokens: fc.constant(0),
    cacheWrite1hTokens: fc.constant(0),
    toolPromptTokens: fc.nat(100),
    outputTokens: fc.integer({ min: 1000, max: 9999 }),
    reasoningTokens: fc.nat(1000),
  }),
);

const stop: fc.Arbitrary<Stop> = fc.constantFrom<Stop>(
  { reason: "end", raw: "STOP" },
  { reason: "max_tokens", raw: "MAX_TOKENS" },
  { reason: "content_filter", raw: "RECITATION", explanation: "a known work" },
  { reason: "bad_tool_call", raw: "MALFORMED_FUNCTION_CALL" },
);

const replyCall = fc.tuple(name, args, fc.option(signature, { nil: undefined })).map((
  [tool, written, proof],
): ReplyPart => ({
  kind: "tool_call",
  callId: "",
  tool,
  input: JSON.stringify(written),
  ...(proof ? { signature: proof } : {}),
}));

/** Replies that this format can express in full. */
export const reply: fc.Arbitrary<Reply> = fc.tuple(
  fc.array(fc.oneof(textPart, reasoning, image, replyCall), { maxLength: 6 }),
  stop,
  usage,
  fc.option(fc.integer({ min: 0, max: 2 ** 31 })),
).map(([drawn, ended, used, createdAt]) => {
  const parts = joined(drawn).map((part, at) => part.kind === "tool_call" ? { ...part, callId: `id${at}` } : part);
  const hasCall = parts.some((part) => part.kind === "tool_call");
  return {
    id: "reply-1",
    model: "google/gemini-3-pro",
    createdAt,
    parts,
    stop: hasCall && ended.reason === "end" ? { ...ended, reason: "tool_calls" } : ended,
    usage: used,
    unsupportedFields: [],
  };
});

/** Joins adjacent parts of one kind up to a signature, because the format has no boundary there. */
function joined(parts: readonly ReplyPart[]): ReplyPart[] {
  const kept: ReplyPart[] = [];
  for (const part of parts) {
    const last = kept.at(-1);
    const merges = last?.kind === part.kind && (part.kind === "text" || part.kind === "reasoning") &&
      !("signature" in last);
    if (!merges) kept.push(part);
  }
  return kept;
}

/** The events of a reply. Deltas have at most `size` units; with `overlap` all parts start before the first ends. */
export function eventsOf(whole: Reply, size: number, overlap: boolean): ReplyEvent[] {
  const { id, model, createdAt } = whole;
  const opened: ReplyEvent[] = [];
  const filled: ReplyEvent[][] = [];
  const closed: ReplyEvent[] = [];
  whole.parts.forEach((part, index) => {
    if (part.kind === "image") {
      opened.push({ type: "image", index, image: part });
      return;
    }
    if (part.kind === "web_search") throw new Error("These replies hold no search");
    opened.push({ type: "part-start", index, part: openingOf(part) });
    filled.push(piecesOf(part, index, size));
    closed.push({ type: "part-end", index });
  });
  const middle = overlap ? [...opened, ...interleaved(filled), ...closed.reverse()] : inOrder(opened, filled, closed);
  return [
    { type: "start", id, model, createdAt, usage: null },
    ...middle,
    { type: "finish", stop: whole.stop, usage: whole.usage },
  ];
}

function openingOf(
  part: Exclude<ReplyPart, { kind: "image" | "web_search" }>,
): Extract<ReplyEvent, { type: "part-start" }>["part"] {
  if (part.kind === "tool_call") return { kind: "tool_call", callId: part.callId, tool: part.tool };
  return { kind: part.kind };
}

function piecesOf(
  part: Exclude<ReplyPart, { kind: "image" | "web_search" }>,
  index: number,
  size: number,
): ReplyEvent[] {
  const whole = part.kind === "tool_call" ? part.input : part.text;
  const pieces: ReplyEvent[] = [];
  for (let at = 0; at < whole.length; at += size) {
    pieces.push({ type: "part-delta", index, text: whole.slice(at, at + size) });
  }
  if ("signature" in part && part.signature) pieces.push({ type: "part-signature", index, signature: part.signature });
  return pieces;
}

function interleaved(lists: readonly ReplyEvent[][]): ReplyEvent[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

function inOrder(opened: readonly ReplyEvent[], filled: readonly ReplyEvent[][], closed: readonly ReplyEvent[]) {
  let at = 0;
  return opened.flatMap((event) => event.type === "image" ? [event] : [event, ...filled[at]!, closed[at++]!]);
}
