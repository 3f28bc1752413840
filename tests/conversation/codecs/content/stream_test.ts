import { eventReaderOf } from "../../../support/event_reader.ts";
import { assertEquals, assertThrows } from "@std/assert";
import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { EventReader } from "../../../../src/conversation/contract/upstream_format.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { replyOf } from "../../../support/assemble.ts";

const CONTEXT: ReplyContext = {
  model: "openai/gpt",
  requestId: "req_1",
  createdAt: 1,
  conversation: null,
  includeUsage: false,
};

const START: ReplyEvent = { type: "start", id: "r", model: "m", createdAt: null, usage: null };
const FINISH: ReplyEvent = { type: "finish", stop: { reason: "end", raw: "stop" }, usage: null };

function feed(reader: EventReader, ...chunks: JsonObject[]): ReplyEvent[] {
  return chunks.flatMap((chunk) => reader.read({ event: null, data: JSON.stringify(chunk) }));
}

function readAll(...chunks: JsonObject[]): ReplyEvent[] {
  const reader = eventReaderOf(content);
  return [...feed(reader, ...chunks), ...reader.end()];
}

function parts(...wireParts: JsonObject[]): JsonObject {
  return { candidates: [{ content: { parts: wireParts, role: "model" }, index: 0 }], responseId: "r" };
}

const STOP = { candidates: [{ content: { role: "model" }, finishReason: "STOP", index: 0 }] };

// deno-lint-ignore no-explicit-any -- tests look into bodies freely
function framesOf(...events: ReplyEvent[]): any[] {
  const writer = content.caller.eventWriter(CONTEXT);
  return events.flatMap((event) => writer.write(event)).map((frame) => {
    assertEquals(frame.event, null);
    return JSON.parse(frame.data);
  });
}

// deno-lint-ignore no-explicit-any -- as above
function partsIn(frames: any[]): JsonObject[] {
  return frames.flatMap((frame) => frame.candidates?.[0]?.content?.parts ?? []);
}

Deno.test("eventReader opens a part for each kind, and closes it when another comes", () => {
  const events = readAll(
    parts({ text: "hm", thought: true }),
    parts({ text: " more", thought: true }, { text: "a" }),
    parts({ text: "b" }),
    { ...STOP, usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 1 } },
  );
  assertEquals(events.map((event) => event.type), [
    "start",
    "part-start",
    "part-delta",
    "part-delta",
    "part-end",
    "part-start",
    "part-delta",
    "part-delta",
    "part-end",
    "finish",
  ]);
  const { parts: read, usage } = replyOf(events);
  assertEquals(read, [{ kind: "reasoning", text: "hm more" }, { kind: "text", text: "ab" }]);
  assertEquals([usage?.outputTokens, usage?.reasoningTokens], [3, 1]);
});

Deno.test("eventReader gives finish at the end, so that usage after the finish reason counts", () => {
  const reader = eventReaderOf(content);
  const before = feed(reader, parts({ text: "a" }), STOP, { usageMetadata: { promptTokenCount: 7 } });
  assertEquals(before.some((event) => event.type === "finish"), false);
  const finish = reader.end().at(-1);
  assertEquals(finish?.type === "finish" && finish.usage?.freshTokens, 7);
  assertEquals(reader.end(), []);
});

Deno.test("eventReader gives no finish without a finish reason, and closes open parts", () => {
  const reader = eventReaderOf(content);
  feed(reader, parts({ text: "a" }));
  assertEquals(reader.end(), [{ type: "part-end", index: 0 }]);
  assertEquals(eventReaderOf(content).end(), []);
});

Deno.test("eventReader passes the vendor's failure on, and gives nothing after it", () => {
  const reader = eventReaderOf(content);
  const error = { code: 503, message: "overloaded", status: "UNAVAILABLE" };
  const events = feed(reader, parts({ text: "a" }), { error }, parts({ text: "b" }), STOP);
  assertEquals(events.at(-1), { type: "error", message: "overloaded", vendorCode: "UNAVAILABLE", status: 503 });
  assertEquals(reader.end(), []);
});

Deno.test("eventReader ignores frames without meaning, and throws on invalid JSON", () => {
  const reader = eventReaderOf(content);
  for (const data of ["", "[DONE]", "null", "{}", '{"type":"ping"}']) {
    assertEquals(reader.read({ event: null, data }), []);
  }
  assertThrows(() => reader.read({ event: null, data: "{" }), SyntaxError);
});

Deno.test("eventReader reports a blocked prompt", () => {
  const events = readAll({ promptFeedback: { blockReason: "SAFETY" }, responseId: "r" });
  assertEquals(replyOf(events).stop, { reason: "prompt_blocked", raw: "SAFETY" });
});

Deno.test("eventReader joins a call whose arguments arrive in deltas", () => {
  const piece = (jsonPath: string, value: JsonObject) => ({
    functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true },
  });
  const events = readAll(
    parts({ functionCall: { name: "f", id: "1", willContinue: true }, thoughtSignature: "AAAA" }),
    parts(piece("$.items[0]['a name']", { stringValue: "New ", willContinue: true })),
    parts(piece("$.items[0]['a name']", { stringValue: "York" })),
    parts(piece("$.items[1].count", { numberValue: 0 }), piece("$.flag", { boolValue: false })),
    parts(piece("$.none", { nullValue: "NULL_VALUE" })),
    parts({ functionCall: {} }),
    parts({ functionCall: { name: "g", willContinue: true } }),
    parts({ functionCall: { partialArgs: [{ jsonPath: "$.x", stringValue: "y" }] } }),
    STOP,
  );
  assertEquals(replyOf(events).parts, [
    {
      kind: "tool_call",
      callId: "1",
      tool: "f",
      input: '{"items":[{"a name":"New York"},{"count":0}],"flag":false,"none":null}',
      signature: { format: "content", issuer: null, value: "AAAA" },
    },
    {
      kind: "tool_call",
      callId: replyOf(events).parts.flatMap((p) => p.kind === "tool_call" ? p.callId : [])[1]!,
      tool: "g",
      input: '{"x":"y"}',
    },
  ]);
});

Deno.test("eventReader keeps unexpected paths away from prototypes and huge lists", () => {
  const pieces = [
    "$.__proto__.admin",
    "$.a.__proto__.admin",
    "$.constructor.prototype.admin",
    "$.list[4000000000]",
    "$",
    "no path",
  ];
  const partialArgs = pieces.map((jsonPath) => ({ jsonPath, boolValue: true }));
  const { parts: read } = replyOf(readAll(parts({ functionCall: { name: "f", partialArgs } }), STOP));
  assertEquals(({} as JsonObject).admin, undefined);
  assertEquals(read[0]!.kind === "tool_call" && read[0]!.input.length < 120, true);
});

Deno.test("eventReader drops an incomplete call after a limit or a lost connection", () => {
  const open = parts({ functionCall: { name: "f", willContinue: true } });
  const cut = readAll(open, { candidates: [{ finishReason: "MAX_TOKENS" }] });
  assertEquals(replyOf(cut).parts, []);
  assertEquals(replyOf(cut).stop.reason, "max_tokens");
  assertEquals(readAll(open).map((event) => event.type), ["start"]);
});

Deno.test("eventReader gives citations at the end of the text", () => {
  const grounded = {
    candidates: [{
      finishReason: "STOP",
      groundingMetadata: {
        groundingChunks: [{ web: { uri: "https://example.org", title: "example" } }],
        groundingSupports: [{ segment: { startIndex: 5, endIndex: 8 }, groundingChunkIndices: [0] }],
      },
    }],
  };
  const end = readAll(parts({ text: "žá " }), parts({ text: "abc" }), grounded).find((event) =>
    event.type === "part-end"
  );
  assertEquals(end?.type === "part-end" && end.citations, [
    { url: "https://example.org", title: "example", start: 3, end: 6 },
  ]);
});

Deno.test("eventWriter writes only complete calls, with arguments as an object", () => {
  const frames = framesOf(
    START,
    { type: "part-start", index: 0, part: { kind: "tool_call", callId: "1", tool: "f" } },
    { type: "part-delta", index: 0, text: '{"a"' },
    { type: "part-delta", index: 0, text: ":1}" },
    { type: "part-end", index: 0 },
    { type: "part-start", index: 1, part: { kind: "tool_call", callId: "2", tool: "g" } },
    { type: "part-end", index: 1 },
    FINISH,
  );
  assertEquals(partsIn(frames), [
    { functionCall: { id: "1", name: "f", args: { a: 1 } } },
    { functionCall: { id: "2", name: "g", args: {} } },
    { text: "" },
  ]);
});

Deno.test("eventWriter ends with finish reason and usage in one chunk, without an end marker", () => {
  const usage = {
    freshTokens: 5,
    cacheReadTokens: 3,
    cacheWrite5mTokens: 2,
    cacheWrite1hTokens: 0,
    toolPromptTokens: 0,
    outputTokens: 9,
    reasoningTokens: 4,
  };
  const frames = framesOf(
    START,
    { type: "part-start", index: 0, part: { kind: "text" } },
    { type: "part-delta", index: 0, text: "hi" },
    { type: "part-end", index: 0 },
    { ...FINISH, usage },
  );
  assertEquals(frames, [
    {
      candidates: [{ content: { parts: [{ text: "hi" }], role: "model" }, index: 0 }],
      modelVersion: "openai/gpt",
      responseId: "r",
    },
    {
      candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        totalTokenCount: 19,
        cachedContentTokenCount: 3,
        thoughtsTokenCount: 4,
      },
      modelVersion: "openai/gpt",
      responseId: "r",
    },
  ]);
});

Deno.test("eventWriter buffers interleaved parts, and keeps the order of opening", () => {
  const frames = framesOf(
    START,
    { type: "part-start", index: 0, part: { kind: "text" } },
    { type: "part-start", index: 1, part: { kind: "reasoning" } },
    { type: "part-delta", index: 1, text: "hm" },
    { type: "part-delta", index: 0, text: "a" },
    { type: "part-start", index: 2, part: { kind: "tool_call", callId: "1", tool: "f" } },
    { type: "part-end", index: 2 },
    { type: "part-delta", index: 0, text: "b" },
    { type: "part-end", index: 0 },
    { type: "part-end", index: 1 },
    FINISH,
  );
  assertEquals(partsIn(frames), [
    { text: "a" },
    { text: "b" },
    { text: "hm", thought: true },
    { functionCall: { id: "1", name: "f", args: {} } },
    { text: "" },
  ]);
});

Deno.test("eventWriter drops a call that a limit cut off", () => {
  const call: ReplyEvent[] = [
    START,
    { type: "part-start", index: 0, part: { kind: "tool_call", callId: "1", tool: "f" } },
    { type: "part-delta", index: 0, text: '{"a' },
    { type: "part-end", index: 0 },
  ];
  const stop = { reason: "max_tokens" as const, raw: "length" };
  assertEquals(partsIn(framesOf(...call, { type: "finish", stop, usage: null })), [{ text: "" }]);
  assertEquals(partsIn(framesOf(...call, FINISH)).length, 2);
});

Deno.test("eventWriter writes signatures after their text, images, refusals, and nothing for empty parts", () => {
  const signature = { format: "content" as const, issuer: null, value: "AAAA" };
  const frames = framesOf(
    START,
    { type: "part-start", index: 0, part: { kind: "reasoning" } },
    { type: "part-signature", index: 0, signature },
    { type: "part-end", index: 0 },
    { type: "part-start", index: 1, part: { kind: "text" } },
    { type: "part-end", index: 1 },
    {
      type: "image",
      index: 2,
      image: { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "A" } },
    },
    { type: "part-start", index: 3, part: { kind: "refusal" } },
    { type: "part-delta", index: 3, text: "no" },
    { type: "part-end", index: 3 },
    FINISH,
  );
  assertEquals(partsIn(frames), [
    { text: "", thought: true, thoughtSignature: "AAAA" },
    { inlineData: { mimeType: "image/png", data: "A" } },
    { text: "no" },
    { text: "" },
  ]);
});

Deno.test("eventWriter reports a blocked prompt without candidates", () => {
  const stop = { reason: "prompt_blocked" as const, raw: null };
  const [frame] = framesOf(START, { type: "finish", stop, usage: null });
  assertEquals(frame.promptFeedback, { blockReason: "OTHER" });
  assertEquals("candidates" in frame, false);
});

Deno.test("eventWriter reports a block after text by the finish reason", () => {
  const stop = { reason: "prompt_blocked" as const, raw: null };
  const frames = framesOf(
    START,
    { type: "part-start", index: 0, part: { kind: "text" } },
    { type: "part-delta", index: 0, text: "a" },
    { type: "part-end", index: 0 },
    { type: "finish", stop, usage: null },
  );
  assertEquals(frames.at(-1).candidates[0].finishReason, "PROHIBITED_CONTENT");
});

Deno.test("eventWriter reports a failure in one frame with a numeric code", () => {
  const writer = content.caller.eventWriter(CONTEXT);
  const frames = writer.fail(new GatewayError("upstream_timeout", "The provider took too long"));
  assertEquals(frames.map((frame) => [frame.event, JSON.parse(frame.data)]), [
    [null, { error: { code: 504, message: "The provider took too long", status: "DEADLINE_EXCEEDED" } }],
  ]);
  const [passed] = writer.write({ type: "error", message: "slow down", vendorCode: null, status: 429 });
  assertEquals(JSON.parse(passed!.data).error, { code: 429, message: "slow down", status: "RESOURCE_EXHAUSTED" });
  const [odd] = writer.write({ type: "error", message: "", vendorCode: null, status: 13 });
  assertEquals(JSON.parse(odd!.data).error.code, 502);
});
