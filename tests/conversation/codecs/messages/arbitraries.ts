import fc from "fast-check";
import type {
  Conversation,
  ImagePart,
  Part,
  ReasoningPart,
  TextPart,
  Turn,
} from "../../../../src/conversation/neutral/conversation.ts";
import type { WebSearchPart } from "../../../../src/conversation/neutral/web_search.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart, Stop } from "../../../../src/conversation/neutral/reply.ts";
import type { ReasoningSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import type { Usage } from "../../../../src/conversation/neutral/usage.ts";
import { itemAt } from "../../../support/items.ts";

/** Text with a visible character, because vendors reject blank text. */
export const aText: fc.Arbitrary<string> = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== "");

const aName = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,12}$/);
const aCache = fc.constantFrom({}, { cache: { ttl: null } }, { cache: { ttl: "1h" as const } });
const aBase64 = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => btoa(String.fromCharCode(...bytes)));

/** A signature without dots, like those of all vendors. */
export function aSignature(...forms: ReasoningSignature["format"][]): fc.Arbitrary<ReasoningSignature> {
  return fc.record({
    format: fc.constantFrom(...forms),
    issuer: fc.constantFrom(null, "google", "anthropic"),
    value: aBase64,
  });
}

const aTextPart: fc.Arbitrary<TextPart> = fc.tuple(aText, aCache).map(([text, cache]) => ({
  kind: "text",
  text,
  ...cache,
}));

const anImage: fc.Arbitrary<ImagePart> = fc.tuple(
  fc.oneof(
    aBase64.map((data) => ({ kind: "base64" as const, mediaType: "image/png", data: `iVBORw0KGgo${data}` })),
    fc.webUrl().map((url) => ({ kind: "url" as const, url, mediaType: null })),
  ),
  aCache,
).map(([source, cache]) => ({ kind: "image", source, ...cache }));

const aFile = fc.record({
  source: fc.constantFrom(
    { kind: "base64" as const, mediaType: "application/pdf", data: "aGk=" },
    { kind: "base64" as const, mediaType: "text/plain", data: "Z3LDvMOf" },
    { kind: "url" as const, url: "https://e.com/a.pdf", mediaType: "application/pdf" },
  ),
  name: fc.option(aText),
}).map((file) => ({ kind: "file" as const, ...file }));

const aJsonObject = fc.dictionary(aName, fc.oneof(fc.integer(), aText, fc.boolean(), fc.array(fc.integer())), {
  noNullPrototype: true,
}).map((value) => JSON.stringify(value));

const aThought: fc.Arbitrary<ReasoningPart> = fc.oneof(
  fc.record({ kind: fc.constant("reasoning" as const), text: fc.string(), signature: aSignature("messages") }),
  fc.record({
    kind: fc.constant("reasoning" as const),
    text: fc.constant(""),
    redacted: fc.constant(true),
    signature: aSignature("messages"),
  }),
);

/** One agent step: a user message, the assistant's reasoning, text and calls, and the results. */
const aStep: fc.Arbitrary<(callNumber: number) => Turn[]> = fc.record({
  asked: fc.array(fc.oneof(aTextPart, anImage, aFile), { minLength: 1, maxLength: 3 }),
  thoughts: fc.array(aThought, { maxLength: 2 }),
  // Marks beyond the fourth are not written, and two plain texts are read as one.
  said: fc.array(aTextPart, { maxLength: 1 }),
  calls: fc.array(
    fc.tuple(aName, aJsonObject, fc.boolean(), fc.array(fc.oneof(aTextPart, anImage), { maxLength: 2 })),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
}).map(({ asked, thoughts, said, calls }) => (step) => {
  const idOf = (index: number) => `toolu_${step}_${index}`;
  const called: Part[] = calls.map(([tool, input], index) => ({ kind: "tool_call", callId: idOf(index), tool, input }));
  const results: Part[] = calls.map(([tool, , isError, parts], index) => ({
    kind: "tool_result",
    callId: idOf(index),
    tool,
    // A vendor rejects an error without text, so it gets one.
    parts: isError && parts.length === 0 ? [{ kind: "text", text: "failed" }] : parts,
    isError,
  }));
  return [
    { role: "user", parts: asked },
    { role: "assistant", parts: [...thoughts, ...said, ...called] },
    { role: "user", parts: results },
  ];
});

/** Turns as every reader returns them: alternating, results first. */
export const someTurns: fc.Arbitrary<Turn[]> = fc.array(aStep, { minLength: 1, maxLength: 3 }).map((steps) => {
  const turns: { role: Turn["role"]; parts: Part[] }[] = [];
  for (const { role, parts } of steps.flatMap((step, index) => step(index))) {
    const latest = turns.at(-1);
    if (latest?.role === role) latest.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
});

/** The settings that this format can express. */
export const someSettings: fc.Arbitrary<Partial<Conversation>> = fc.record({
  instructions: fc.array(aTextPart, { maxLength: 2 }),
  maxOutputTokens: fc.integer({ min: 1, max: 100_000 }),
  parallelToolCalls: fc.constantFrom(null, false),
  toolChoice: fc.constantFrom({ kind: "auto" as const }, { kind: "required" as const }),
  tools: fc.uniqueArray(aName, { minLength: 1, maxLength: 3 }).chain((names) =>
    fc.tuple(...names.map((name) =>
      fc.record({
        kind: fc.constant("function" as const),
        name: fc.constant(name),
        description: fc.option(aText),
        parameters: fc.constantFrom(null, { type: "object", properties: { a: { type: "string" } } }),
        strict: fc.constant(null),
      })
    ))
  ),
  stream: fc.boolean(),
  user: fc.option(aText),
}).map((settings): Partial<Conversation> => settings);

const aCount = fc.integer({ min: 0, max: 1e6 });

/** Token counts in all combinations that the format can report. */
export const someUsage: fc.Arbitrary<Usage> = fc.record({
  freshTokens: aCount,
  cacheReadTokens: aCount,
  cacheWrite5mTokens: aCount,
  cacheWrite1hTokens: aCount,
  toolPromptTokens: fc.constant(0),
  outputTokens: aCount,
  reasoningTokens: aCount,
}).map((usage) => ({ ...usage, outputTokens: usage.outputTokens + usage.reasoningTokens }));

const aStop: fc.Arbitrary<Stop> = fc.constantFrom<Stop>(
  { reason: "end", raw: "end_turn" },
  { reason: "stop_sequence", raw: "stop_sequence", sequence: "END" },
  { reason: "max_tokens", raw: "max_tokens" },
  { reason: "context_full", raw: "model_context_window_exceeded" },
  { reason: "refusal", raw: "refusal", explanation: "no" },
  { reason: "paused", raw: "pause_turn" },
);

const aReplyPart: fc.Arbitrary<ReplyPart> = fc.oneof(
  aText.map((text): ReplyPart => ({ kind: "text", text })),
  fc.oneof(
    aText.map((text): ReplyPart => ({ kind: "reasoning", text })),
    fc.tuple(fc.string(), aBase64).map(([text, value]): ReplyPart => ({
      kind: "reasoning",
      text,
      signature: { format: "messages", issuer: null, value },
    })),
    aBase64.map((value): ReplyPart => ({
      kind: "reasoning",
      text: "",
      redacted: true,
      signature: { format: "messages", issuer: null, value },
    })),
  ),
  fc.tuple(aName, aJsonObject).map(([tool, input]): ReplyPart => ({ kind: "tool_call", callId: "", tool, input })),
);

/** Replies in all combinations that this format can express. */
export const aReply: fc.Arbitrary<Reply> = fc.record({
  id: fc.constant("msg_1"),
  model: fc.constant("anthropic/claude"),
  createdAt: fc.constant(null),
  parts: fc.array(aReplyPart, { maxLength: 5 }).map((parts) =>
    parts.map((part, index) => part.kind === "tool_call" ? { ...part, callId: `toolu_${index}` } : part)
  ),
  stop: aStop,
  usage: someUsage,
  unsupportedFields: fc.constant([]),
}).map((reply) => {
  const hasCall = reply.parts.some((part) => part.kind === "tool_call");
  const stop: Stop = hasCall && reply.stop.reason === "end" ? { reason: "tool_calls", raw: "tool_use" } : reply.stop;
  return { ...reply, stop };
});

/** The events of a reply, with its text in deltas and its parts interleaved by `order`. */
export function eventsOf(reply: Reply, order: readonly number[]): ReplyEvent[] {
  const lanes = reply.parts.map((part, index) => laneOf(part, index));
  const events: ReplyEvent[] = lanes.map((lane) => itemAt(lane, 0));
  const rests = lanes.map(([, ...rest]) => rest);
  for (let turn = 0; rests.some((rest) => rest.length > 0); turn++) {
    const left = rests.filter((rest) => rest.length > 0);
    events.push(itemAt(left, (order[turn % Math.max(1, order.length)] ?? 0) % left.length).shift()!);
  }
  return [
    { type: "start", id: reply.id, model: reply.model, createdAt: reply.createdAt, usage: null },
    ...events,
    { type: "finish", stop: reply.stop, usage: reply.usage },
  ];
}

function laneOf(part: ReplyPart, index: number): ReplyEvent[] {
  if (part.kind === "image") return [{ type: "image", index, image: part }];
  if (part.kind === "web_search") return [{ type: "web_search", index, search: part }];
  const text = part.kind === "tool_call" ? part.input : part.text;
  const signature = "signature" in part && part.signature
    ? [{ type: "part-signature" as const, index, signature: part.signature }]
    : [];
  const half = Math.ceil(text.length / 2);
  const deltas = [text.slice(0, half), text.slice(half)].filter((piece) => piece !== "")
    .map((piece) => ({ type: "part-delta" as const, index, text: piece }));
  return [{ type: "part-start", index, part: openingOf(part) }, ...deltas, ...signature, { type: "part-end", index }];
}

function openingOf(part: Exclude<ReplyPart, ImagePart | WebSearchPart>): (ReplyEvent & { type: "part-start" })["part"] {
  switch (part.kind) {
    case "text":
    case "refusal":
      return { kind: part.kind };
    case "reasoning":
      return { kind: "reasoning", ...(part.redacted ? { redacted: true } : {}) };
    case "tool_call":
      return { kind: "tool_call", callId: part.callId, tool: part.tool, ...(part.custom ? { custom: true } : {}) };
  }
}
