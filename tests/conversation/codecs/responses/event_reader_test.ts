import { eventReaderOf } from "../../../support/event_reader.ts";
import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import { replyOf } from "../../../support/assemble.ts";

const CREATED = { type: "response.created", response: { id: "resp_1", model: "m", created_at: 5, output: [] } };
const COMPLETED = { type: "response.completed", response: { id: "resp_1", status: "completed", output: [] } };

function read(...wire: JsonObject[]): ReplyEvent[] {
  const reader = eventReaderOf(responses);
  const events = wire.flatMap((data) => reader.read({ event: String(data.type), data: JSON.stringify(data) }));
  return [...events, ...reader.end()];
}

function added(outputIndex: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.added", output_index: outputIndex, item };
}

function done(outputIndex: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.done", output_index: outputIndex, item };
}

function delta(kind: string, outputIndex: number, text: string, more: JsonObject = {}): JsonObject {
  return { type: `response.${kind}.delta`, output_index: outputIndex, delta: text, ...more };
}

Deno.test("a reader keeps the contract when the vendor opens nothing and changes ids", () => {
  const reply = replyOf(read(
    CREATED,
    CREATED,
    { type: "response.telepathy.delta", delta: "x" },
    delta("reasoning_summary_text", 0, "a", { item_id: "1", summary_index: 0 }),
    delta("reasoning_summary_text", 0, "b", { item_id: "2", summary_index: 1 }),
    done(0, { type: "reasoning", id: "3", summary: [], encrypted_content: "gAAA" }),
    delta("output_text", 1, "He", { content_index: 0 }),
    { type: "response.output_text.done", output_index: 1, content_index: 0, text: "Hello" },
    done(1, { type: "message", content: [{ type: "output_text", text: "Hello" }] }),
    COMPLETED,
  ));
  assertEquals(reply.parts, [
    { kind: "reasoning", id: "1", text: "a\n\nb", signature: { format: "responses", issuer: null, value: "gAAA" } },
    { kind: "text", text: "Hello" },
  ]);
  assertEquals(reply.stop, { reason: "end", raw: "completed" });
});

Deno.test("interleaved calls keep their arguments separate, and the stop is tool_calls", () => {
  const reply = replyOf(read(
    CREATED,
    added(0, { type: "function_call", call_id: "a", name: "f", arguments: "" }),
    added(1, { type: "function_call", call_id: "b", name: "g", arguments: "" }),
    delta("function_call_arguments", 0, '{"x"'),
    delta("function_call_arguments", 1, "{}"),
    delta("function_call_arguments", 0, ":1}"),
    done(1, { type: "function_call", call_id: "b", name: "g", arguments: "{}" }),
    done(0, { type: "function_call", call_id: "a", name: "f", arguments: '{"x":1}' }),
    COMPLETED,
  ));
  assertEquals(reply.parts.map((part) => part.kind === "tool_call" && part.input), ['{"x":1}', "{}"]);
  assertEquals(reply.stop.reason, "tool_calls");
});

Deno.test("contents that arrive only in the last event of an item, or of the stream, are read", () => {
  const call = { type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "sql", input: "select 1" };
  assertEquals(replyOf(read(CREATED, done(0, call), COMPLETED)).parts, [
    { kind: "tool_call", callId: "c", tool: "sql", custom: true, input: "select 1" },
  ]);
  const message = { type: "message", content: [{ type: "output_text", text: "hi" }] };
  const only = { ...COMPLETED, response: { ...COMPLETED.response, output: [message] } };
  assertEquals(replyOf(read(only)).parts, [{ kind: "text", text: "hi" }]);
});

Deno.test("reasoning text is read once when the vendor also sends a summary", () => {
  const reply = replyOf(read(
    CREATED,
    delta("reasoning_text", 0, "deep", { content_index: 0 }),
    delta("reasoning_summary_text", 0, "short", { summary_index: 0 }),
    done(0, {
      type: "reasoning",
      content: [{ type: "reasoning_text", text: "deep thought" }],
      summary: [{ type: "summary_text", text: "short" }],
    }),
    COMPLETED,
  ));
  assertEquals(reply.parts, [{ kind: "reasoning", text: "deep thought" }]);
});

Deno.test("a vendor's own tools are skipped, an image arrives whole", () => {
  const reply = replyOf(read(
    CREATED,
    added(0, { type: "file_search_call", status: "in_progress" }),
    { type: "response.file_search_call.searching", output_index: 0 },
    done(0, { type: "file_search_call", status: "completed" }),
    added(1, { type: "image_generation_call" }),
    done(1, { type: "image_generation_call", result: "AAAA", output_format: "jpeg" }),
    { type: "response.refusal.done", output_index: 2, content_index: 0, refusal: "no" },
    COMPLETED,
  ));
  assertEquals(reply.parts, [
    { kind: "image", source: { kind: "base64", mediaType: "image/jpeg", data: "AAAA" } },
    { kind: "refusal", text: "no" },
  ]);
  assertEquals(reply.stop.reason, "refusal");
});

Deno.test("the sources of a text are given at its end, whether they arrive one by one or with the whole", () => {
  const annotation = { type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 2 };
  const file = { type: "file_citation", file_id: "f" };
  const part = { type: "output_text", text: "Hi", annotations: [annotation, file] };
  const place = { output_index: 0, content_index: 0 };
  const text = { type: "response.output_text.done", ...place, text: "Hi" };
  const single = { type: "response.output_text.annotation.added", ...place, annotation };
  const closed = { type: "response.content_part.done", ...place, part };
  const citations = [{ url: "https://a.example", title: "A", start: 0, end: 2 }];
  const sourcesOf = (...wire: JsonObject[]) =>
    read(CREATED, ...wire, COMPLETED).flatMap((event) => event.type === "part-end" ? [event.citations] : []);
  assertEquals(sourcesOf(delta("output_text", 0, "Hi", place), single, { ...single, annotation: file }, text), [
    citations,
  ]);
  assertEquals(sourcesOf(text, single, closed), [citations]);
  assertEquals(sourcesOf(text, closed), [citations]);
  assertEquals(sourcesOf(done(0, { type: "message", content: [part] })), [citations]);
});

Deno.test("an incomplete response reports the limit that it reached", () => {
  const stopOf = (reason: string) => {
    const response = { status: "incomplete", incomplete_details: { reason }, output: [] };
    return replyOf(read(CREATED, { type: "response.incomplete", response })).stop.reason;
  };
  assertEquals(["max_output_tokens", "content_filter", "steered"].map(stopOf), [
    "max_tokens",
    "content_filter",
    "paused",
  ]);
});

Deno.test("a failure is read flat, nested and from response.failed, once", () => {
  const failure = { message: "no quota", code: "insufficient_quota" };
  const expected = [{ type: "error", message: "no quota", vendorCode: "insufficient_quota", status: 503 }];
  const failed = { type: "response.failed", response: { id: "r", status: "failed", error: failure } };
  assertEquals(read({ type: "error", ...failure, param: null }), expected as ReplyEvent[]);
  assertEquals(
    read({ type: "error", error: { type: "insufficient_quota", ...failure } }, failed),
    expected as ReplyEvent[],
  );
  assertEquals(read(CREATED, failed).slice(1), expected as ReplyEvent[]);
  assertEquals(read({ error: failure }), expected as ReplyEvent[]);
});

Deno.test("a stream that was cut off gives no finish, but leaves no part open", () => {
  const events = read(CREATED, delta("output_text", 0, "Hel", { content_index: 0 }));
  assertEquals(events.map(({ type }) => type), ["start", "part-start", "part-delta", "part-end"]);
});

Deno.test("a frame that is not an event gives nothing, invalid JSON throws", () => {
  const reader = eventReaderOf(responses);
  assertEquals(reader.read({ event: null, data: "[DONE]" }), []);
  assertEquals(reader.read({ event: null, data: "" }), []);
  assertEquals(reader.read({ event: null, data: "[1]" }), []);
  assertEquals(reader.read({ event: "constructor", data: '{"type":"constructor"}' }), []);
  assertThrows(() => reader.read({ event: null, data: "<html>" }), SyntaxError);
});
