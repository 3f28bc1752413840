import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";
import { writeFrames } from "../../src/platform/lib/streams/sse.ts";
import type { Reply, ReplyPart, Stop } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName, ReasoningSignature } from "../../src/conversation/neutral/reasoning_signature.ts";
import { conversationOf, replyContextOf } from "../support/conversations.ts";
import { CODECS, eventsIn, FORMATS, framesOf, writtenAsStream, writtenWhole } from "../support/formats.ts";
import { streamOf } from "../support/stream_of.ts";

const CONTEXT = replyContextOf({
  conversation: conversationOf({ reasoning: { effort: "medium", budgetTokens: null, visible: true } }),
  includeUsage: true,
});

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/);
const json = fc.dictionary(name, fc.oneof(fc.integer(), text), { noNullPrototype: true }).map((value) =>
  JSON.stringify(value)
);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => btoa(String.fromCharCode(...bytes)));
const signature: fc.Arbitrary<ReasoningSignature> = fc.record({
  format: fc.constantFrom<CallerFormatName>("chat", "responses", "messages", "content"),
  issuer: fc.constantFrom("one", "other"),
  value: base64,
});
const signed = fc.option(signature).map((value) => value === null ? {} : { signature: value });

const part: fc.Arbitrary<ReplyPart> = fc.oneof(
  fc.tuple(text, signed).map(([value, signature]): ReplyPart => ({ kind: "text", text: value, ...signature })),
  fc.tuple(text, signed).map(([value, signature]): ReplyPart => ({ kind: "reasoning", text: value, ...signature })),
  signature.map((one): ReplyPart => ({ kind: "reasoning", text: "", redacted: true, signature: one })),
  fc.tuple(text, fc.webUrl()).map(([value, url]): ReplyPart => ({
    kind: "text",
    text: value,
    citations: [{ url, title: "T", start: 0, end: value.length }],
  })),
  text.map((value): ReplyPart => ({ kind: "refusal", text: value })),
  fc.tuple(name, json, signed).map(([tool, input, signature]): ReplyPart => ({
    kind: "tool_call",
    callId: "",
    tool,
    input,
    ...signature,
  })),
  fc.tuple(name, text).map(([tool, input]): ReplyPart => ({
    kind: "tool_call",
    callId: "",
    tool,
    input,
    custom: true,
  })),
  base64.map((data): ReplyPart => ({ kind: "image", source: { kind: "base64", mediaType: "image/png", data } })),
);
const counter = fc.integer({ min: 0, max: 1e6 });
const stop = fc.constantFrom<Stop>(
  { reason: "end", raw: null },
  { reason: "stop_sequence", raw: null, sequence: "END" },
  { reason: "max_tokens", raw: null },
  { reason: "context_full", raw: null },
  { reason: "refusal", raw: null, explanation: "no" },
  { reason: "content_filter", raw: null },
  { reason: "paused", raw: null },
);

const reply: fc.Arbitrary<Reply> = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 6 }),
  stop,
  usage: fc.option(fc.record({
    freshTokens: counter,
    cacheReadTokens: counter,
    cacheWrite5mTokens: counter,
    cacheWrite1hTokens: counter,
    toolPromptTokens: fc.constant(0),
    outputTokens: fc.integer({ min: 1e6, max: 2e6 }),
    reasoningTokens: counter,
  })),
}).map(({ parts, ...rest }) => ({
  id: "reply-1",
  model: "m",
  createdAt: 5,
  parts: parts.map((one, at) => one.kind === "tool_call" ? { ...one, callId: `call_${at}` } : one),
  ...rest,
  unsupportedFields: [],
}));

/** A chat message has one field per kind of part, so the order of kinds is not preserved. */
const FIELDS: readonly ReplyPart["kind"][] = ["reasoning", "text", "refusal", "image", "tool_call"];

/** The content format reports citations at the end, where they are attached to the last text or an empty one. */
function comparable(form: CallerFormatName, { parts, ...rest }: Reply) {
  const told = form === "content" ? parts.filter(hasContent).map(withoutCitations) : parts.map(spelledAlike);
  return { ...rest, parts: form === "chat" ? FIELDS.map((kind) => fieldOf(told, kind)) : told, unsupportedFields: [] };
}

function hasContent(part: ReplyPart): boolean {
  return part.kind !== "text" || part.text !== "" || part.signature !== undefined;
}

function withoutCitations(part: ReplyPart) {
  if (part.kind !== "text") return spelledAlike(part);
  const { citations: _citations, ...rest } = part;
  return rest;
}

/** The parts of a kind; texts are joined without the separators between reasoning parts. */
function fieldOf(parts: readonly { readonly kind: string; readonly text?: string }[], kind: string) {
  const own = parts.filter((part) => part.kind === kind);
  const isWords = kind === "reasoning" || kind === "text" || kind === "refusal";
  return isWords ? own.map((part) => part.text).join("").replaceAll(/\s/g, "") : own;
}

/** Parses JSON arguments, which can be spelled in several ways. */
function spelledAlike(part: ReplyPart) {
  return part.kind === "tool_call" && !part.custom ? { ...part, input: JSON.parse(part.input) } : part;
}

for (const form of FORMATS) {
  Deno.test(`a stream in ${form} is read as the whole reply in ${form}`, () => {
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 9 }), (given, size) => {
        const streamed = writtenAsStream(form, streamOf(given, size), CONTEXT);
        assertEquals(comparable(form, streamed), comparable(form, writtenWhole(form, given, CONTEXT)));
      }),
      { numRuns: 150 },
    );
  });
}

/** The frames with a member that has another value in each, so that none of them is like another. */
function unlikeFrames(frames: readonly Frame[]): Frame[] {
  return frames.map(({ event, data }, at) => ({
    event,
    data: data === "[DONE]" ? data : JSON.stringify({ ...JSON.parse(data), at }),
  }));
}

for (const form of FORMATS) {
  Deno.test(`frames in ${form} that differ in their text only are read like all others`, () => {
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 9 }), (given, size) => {
        const frames = framesOf(form, streamOf(given, size), CONTEXT);
        const ids = (events: readonly ReplyEvent[]) => JSON.stringify(events).replaceAll(/"gen_\w+"/g, '"gen"');
        assertEquals(ids(eventsIn(form, frames)), ids(eventsIn(form, unlikeFrames(frames))));
      }),
      { numRuns: 100 },
    );
  });

  Deno.test(`the writer of ${form} writes a piece of text by itself as among other events`, () => {
    let written = 0;
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 9 }), (given, size) => {
        const one = CODECS[form].caller.eventWriter(CONTEXT);
        const other = CODECS[form].caller.eventWriter(CONTEXT);
        for (const event of streamOf(given, size)) {
          const frames = writeFrames(one.write(event));
          const text = event.type === "part-delta" ? other.writeText(event.index, event.text) : null;
          assertEquals(text ?? writeFrames(other.write(event)), frames);
          if (text !== null) written++;
        }
      }),
      { numRuns: 100 },
    );
    assert(written > 100, `${written} pieces`);
  });
}
