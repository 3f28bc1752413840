import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";
import { type Conversation, NO_SAMPLING } from "../../../../src/conversation/neutral/conversation.ts";
import { asCounted, replyOf } from "../../../support/assemble.ts";
import { eventsOf, reply, text, turns } from "./arbitraries.ts";
import { RESEMBLING_QUIRKS, targetOf } from "../../../support/conversations.ts";

const NEWEST = targetOf({ model: "gemini-3-pro", provider: "google" });
/** A model that takes everything that the format can express. */
const TARGET: RequestTarget = { ...NEWEST, facts: { ...NEWEST.facts, hasPenalties: true } };

const CONTEXT: ReplyContext = {
  model: "google/gemini-3-pro",
  requestId: "req_1",
  createdAt: 1,
  conversation: null,
  includeUsage: true,
};

const conversation: fc.Arbitrary<Conversation> = fc.record({
  model: fc.constant("google/gemini-3-pro"),
  instructions: fc.array(text.map((value) => ({ kind: "text" as const, text: value })), { maxLength: 2 }),
  turns,
  tools: fc.constantFrom([], [
    {
      kind: "function" as const,
      name: "f",
      description: "does",
      parameters: { type: "object", properties: { a: {} } },
      strict: null,
    },
    { kind: "function" as const, name: "g", description: null, parameters: null, strict: null },
  ]),
  toolChoice: fc.constant(null),
  parallelToolCalls: fc.constant(null),
  outputFormat: fc.constantFrom(null, { kind: "json" as const }, {
    kind: "json_schema" as const,
    name: "response",
    description: null,
    schema: { type: "object", properties: { a: { type: "number" } } },
    strict: null,
  }),
  maxOutputTokens: fc.option(fc.integer({ min: 1, max: 9999 })),
  sampling: fc.record({
    temperature: fc.option(fc.constantFrom(0, 0.5, 2)),
    topP: fc.option(fc.constantFrom(0.1, 1)),
    topK: fc.option(fc.integer({ min: 1, max: 99 })),
    presencePenalty: fc.option(fc.constantFrom(-1, 1)),
    frequencyPenalty: fc.option(fc.constantFrom(-1, 1)),
    seed: fc.option(fc.integer()),
    stop: fc.array(text, { maxLength: 5 }),
  }),
  reasoning: fc.constantFrom(null, { effort: "high" as const, budgetTokens: null, visible: true }),
  stream: fc.boolean(),
  user: fc.constant(null),
  cacheKey: fc.constant(null),
  verbosity: fc.constant(null),
  unsupportedFields: fc.constant([]),
});

/** The value with JSON results of tools in compact form, as the reader returns them. */
function compact(value: Conversation): Conversation {
  return JSON.parse(JSON.stringify(value));
}

Deno.test("writeRequest and readRequest are inverses on what the format can express", () => {
  fc.assert(fc.property(conversation, (asked) => {
    const { body, droppedFields } = content.upstream.writeRequest(asked, TARGET);
    assertEquals(droppedFields, []);
    const sent = { ...JSON.parse(JSON.stringify(body)), model: asked.model, stream: asked.stream };
    assertEquals(readChecked(content.caller, sent), compact(asked));
  }));
});

Deno.test("writeReply and readReply are inverses on what the format can express", () => {
  fc.assert(fc.property(reply, (answered) => {
    const { body, droppedFields } = content.caller.writeReply(answered, CONTEXT);
    assertEquals(droppedFields, []);
    assertEquals(asCounted(content.upstream.readReply(JSON.parse(JSON.stringify(body)))), answered);
  }));
});

Deno.test("a reader returns the reply that eventWriter wrote, however its events are cut and interleaved", () => {
  fc.assert(fc.property(reply, fc.integer({ min: 1, max: 9 }), fc.boolean(), (answered, size, overlap) => {
    const writer = content.caller.eventWriter(CONTEXT);
    const frames = eventsOf(answered, size, overlap).flatMap((event) => writer.write(event));
    const reader = eventReaderOf(content);
    const events = frames.flatMap((frame) => reader.read(frame));
    assertEquals(asCounted(replyOf([...events, ...reader.end()])), answered);
  }));
});

Deno.test("a stream and a whole reply with the same contents are read alike", () => {
  fc.assert(fc.property(reply, fc.integer({ min: 1, max: 9 }), (answered, size) => {
    const writer = content.caller.eventWriter(CONTEXT);
    const frames = eventsOf(answered, size, false).flatMap((event) => writer.write(event));
    const reader = eventReaderOf(content);
    const streamed = replyOf([...frames.flatMap((frame) => reader.read(frame)), ...reader.end()]);
    assertEquals(streamed, content.upstream.readReply(content.caller.writeReply(answered, CONTEXT).body));
  }));
});

Deno.test("a written body is valid: it passes the check, has alternating roles and no empty part", () => {
  const target = { ...TARGET, provider: "another", quirks: RESEMBLING_QUIRKS };
  fc.assert(fc.property(conversation, fc.nat(3), (asked, skipped) => {
    const cut = { ...asked, turns: asked.turns.slice(skipped), sampling: NO_SAMPLING };
    const { body } = content.upstream.writeRequest(cut, target);
    content.caller.check(body);
    const contents = body.contents as { role: string; parts: { text?: string; thoughtSignature?: string }[] }[];
    contents.forEach(({ role, parts }, at) => {
      assertEquals(role, at % 2 === 0 ? "user" : "model");
      assertEquals(parts.length > 0, true);
      assertEquals(parts.some((part) => part.text === "" && !part.thoughtSignature), false);
    });
  }));
});
