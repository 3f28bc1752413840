import { eventReaderOf } from "../../../support/event_reader.ts";
import { assertEquals, assertThrows } from "@std/assert";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import { writeSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import { NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { replyOf } from "../../../support/assemble.ts";
import { itemAt } from "../../../support/items.ts";
import { contextWith } from "./samples.ts";

function frame(data: JsonObject): Frame {
  return { event: String(data.type), data: JSON.stringify(data) };
}

/** The events of a stream with these frames. */
function read(...frames: JsonObject[]): ReplyEvent[] {
  const reader = eventReaderOf(messages);
  return [...frames.flatMap((data) => reader.read(frame(data))), ...reader.end()];
}

const START = {
  type: "message_start",
  message: { id: "msg_1", model: "claude", usage: { input_tokens: 9, output_tokens: 1 } },
};
const STOP = { type: "message_stop" };

function end(stopReason: string, outputTokens = 5): JsonObject {
  return { type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: outputTokens } };
}

function opens(index: number, block: JsonObject): JsonObject {
  return { type: "content_block_start", index, content_block: block };
}

function says(index: number, delta: JsonObject): JsonObject {
  return { type: "content_block_delta", index, delta };
}

function closes(index: number): JsonObject {
  return { type: "content_block_stop", index };
}

function saysText(index: number, text: string): JsonObject {
  return says(index, { type: "text_delta", text });
}

/** The data of the frames written for events. */
function write(events: readonly ReplyEvent[]): JsonObject[] {
  const writer = messages.caller.eventWriter(contextWith());
  return events.flatMap((event) => writer.write(event)).map(({ data }) => JSON.parse(data));
}

const BEGIN: ReplyEvent = { type: "start", id: "", model: "m", createdAt: null, usage: null };
const FINISH: ReplyEvent = { type: "finish", stop: { reason: "end", raw: null }, usage: null };

Deno.test("messages event reader reads text, thinking and calls of a stream", () => {
  const reply = replyOf(read(
    START,
    opens(0, { type: "thinking", thinking: "", signature: "" }),
    says(0, { type: "thinking_delta", thinking: "hm" }),
    says(0, { type: "signature_delta", signature: "c2ln" }),
    closes(0),
    { type: "ping" },
    opens(1, { type: "text", text: "" }),
    saysText(1, "Yes"),
    closes(1),
    opens(2, { type: "tool_use", id: "toolu_1", name: "look", input: {} }),
    says(2, { type: "input_json_delta", partial_json: "" }),
    says(2, { type: "input_json_delta", partial_json: '{"at":' }),
    says(2, { type: "input_json_delta", partial_json: "1}" }),
    closes(2),
    end("tool_use"),
    STOP,
  ));
  assertEquals(reply.parts, [
    { kind: "reasoning", text: "hm", signature: { format: "messages", issuer: null, value: "c2ln" } },
    { kind: "text", text: "Yes" },
    { kind: "tool_call", callId: "toolu_1", tool: "look", input: '{"at":1}' },
  ]);
  assertEquals(reply.stop, { reason: "tool_calls", raw: "tool_use" });
  assertEquals(reply.usage, { ...NO_USAGE, freshTokens: 9, outputTokens: 5 });
});

Deno.test("messages event reader keeps thinking with only a signature", () => {
  const reply = replyOf(read(
    START,
    opens(0, { type: "thinking", thinking: "", signature: "" }),
    says(0, { type: "signature_delta", signature: "b21pdA==" }),
    closes(0),
    opens(1, { type: "redacted_thinking", data: "aGlk" }),
    closes(1),
    end("end_turn"),
    STOP,
  ));
  assertEquals(reply.parts, [
    { kind: "reasoning", text: "", signature: { format: "messages", issuer: null, value: "b21pdA==" } },
    { kind: "reasoning", text: "", redacted: true, signature: { format: "messages", issuer: null, value: "aGlk" } },
  ]);
});

Deno.test("messages event reader starts again at a second message_start", () => {
  const reply = replyOf(read(
    START,
    opens(0, { type: "text", text: "" }),
    saysText(0, "a"),
    { ...START, message: { ...START.message, usage: { input_tokens: 11, output_tokens: 1 } } },
    opens(0, { type: "text", text: "" }),
    saysText(0, "b"),
    closes(0),
    end("end_turn"),
    STOP,
  ));
  assertEquals(reply.parts, [{ kind: "text", text: "a" }, { kind: "text", text: "b" }]);
  assertEquals(reply.usage?.freshTokens, 11);
});

Deno.test("messages event reader reads the content in message_start", () => {
  const given = (content: JsonObject[], more = {}) => ({ ...START, message: { ...START.message, content, ...more } });
  const begun = replyOf(read(
    given([{ type: "thinking", thinking: "hm", signature: "c2ln" }, { type: "text", text: "Hel" }]),
    saysText(1, "lo"),
    opens(2, { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } }),
    closes(2),
    end("tool_use"),
    STOP,
  ));
  assertEquals(begun.parts, [
    { kind: "reasoning", text: "hm", signature: { format: "messages", issuer: null, value: "c2ln" } },
    { kind: "text", text: "Hello" },
    { kind: "tool_call", callId: "toolu_1", tool: "look", input: '{"at":1}' },
  ]);
  const whole = replyOf(read(given([{ type: "text", text: "Hello" }], { stop_reason: "max_tokens" }), STOP));
  assertEquals([whole.parts, whole.stop.reason], [[{ kind: "text", text: "Hello" }], "max_tokens"]);
  const again = replyOf(
    read(given([{ type: "text", text: "a" }]), opens(0, { type: "text", text: "b" }), closes(0), STOP),
  );
  assertEquals(again.parts, [{ kind: "text", text: "a" }, { kind: "text", text: "b" }]);
});

Deno.test("messages event reader skips the vendor's own tools, unknown events and empty text", () => {
  const reply = replyOf(read(
    START,
    opens(0, { type: "server_tool_use", id: "s", name: "web_fetch", input: {} }),
    says(0, { type: "input_json_delta", partial_json: '{"url":"x"}' }),
    closes(0),
    opens(1, { type: "web_fetch_tool_result", content: [] }),
    closes(1),
    opens(2, { type: "text", text: "" }),
    closes(2),
    { type: "tomorrow" },
    opens(3, { type: "text", text: "" }),
    says(3, { type: "citations_delta", citation: {} }),
    saysText(3, "Yes"),
    closes(3),
    end("end_turn"),
    STOP,
  ));
  assertEquals(reply.parts, [{ kind: "text", text: "Yes" }]);
});

Deno.test("messages event reader gives the web sources of a text at its end", () => {
  const source = (url: string) => ({ type: "web_search_result_location", url, title: "T", encrypted_index: "x" });
  const events = read(
    START,
    opens(0, { type: "text", text: "", citations: [source("https://a")] }),
    says(0, { type: "citations_delta", citation: source("https://b") }),
    saysText(0, "Yes"),
    says(0, { type: "citations_delta", citation: { type: "char_location", document_index: 0 } }),
    closes(0),
    end("end_turn"),
    STOP,
  );
  const place = { title: "T", start: 0, end: 3, signature: { format: "messages" as const, issuer: null, value: "x" } };
  const citations = [{ url: "https://a", ...place }, { url: "https://b", ...place }];
  assertEquals(replyOf(events).parts, [{ kind: "text", text: "Yes", citations }]);
});

Deno.test("messages event reader accepts what compatible vendors leave out or add", () => {
  const reply = replyOf(read(
    opens(0, { type: "text", text: "A" }),
    saysText(0, "b"),
    opens(1, { type: "tool_use", id: "t", name: "look", input: { at: 1 } }),
    closes(1),
    saysText(7, "late"),
    end("end_turn"),
    STOP,
  ));
  assertEquals(reply.parts, [
    { kind: "text", text: "Ab" },
    { kind: "tool_call", callId: "t", tool: "look", input: '{"at":1}' },
    { kind: "text", text: "late" },
  ]);
  const reader = eventReaderOf(messages);
  assertEquals(reader.read({ event: null, data: "" }), []);
  assertEquals(reader.read({ event: null, data: "[DONE]" }), []);
  assertEquals(reader.read({ event: "ping", data: "{}" }), []);
  assertThrows(() => reader.read({ event: null, data: "{" }), SyntaxError);
});

Deno.test("messages event reader gives no finish for a stream that was cut off", () => {
  const events = read(START, opens(0, { type: "text", text: "" }), saysText(0, "a"), end("end_turn"));
  assertEquals(events.at(-1), { type: "part-end", index: 0 });
});

Deno.test("messages event reader reports a failure in the stream and reads no further", () => {
  const failure = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const events = read(START, opens(0, { type: "text", text: "" }), saysText(0, "a"), failure, STOP);
  assertEquals(events.at(-1), { type: "error", message: "Overloaded", vendorCode: "overloaded_error", status: 529 });
});

Deno.test("messages event writer streams the first open part and buffers the others", () => {
  const call = (index: number, callId: string): ReplyEvent => ({
    type: "part-start",
    index,
    part: { kind: "tool_call", callId, tool: "look" },
  });
  const delta = (index: number, text: string): ReplyEvent => ({ type: "part-delta", index, text });
  const writer = messages.caller.eventWriter(contextWith());
  const typesOf = (event: ReplyEvent) =>
    writer.write(event).map(({ data }) => JSON.parse(data)).map(({ type, index, delta }) =>
      `${type} ${index ?? ""}${delta?.partial_json ?? ""}`
    );
  writer.write(BEGIN);
  assertEquals([typesOf(call(0, "a")), typesOf(call(1, "b"))], [["content_block_start 0"], []]);
  assertEquals(typesOf(delta(1, "{")), []);
  assertEquals(typesOf(delta(0, "{}")), ["content_block_delta 0{}"]);
  assertEquals(typesOf(delta(1, "}")), []);
  assertEquals(typesOf({ type: "part-end", index: 0 }), [
    "content_block_stop 0",
    "content_block_start 1",
    "content_block_delta 1{}",
  ]);
  assertEquals(typesOf({ type: "part-end", index: 1 }), ["content_block_stop 1"]);
});

Deno.test("messages event writer writes no block for an empty part, except a call", () => {
  const parts: (ReplyEvent & { type: "part-start" })["part"][] = [
    { kind: "text" },
    { kind: "reasoning" },
    { kind: "reasoning", redacted: true },
    { kind: "tool_call", callId: "a", tool: "look" },
  ];
  const events = parts.flatMap((part, index): ReplyEvent[] => [{ type: "part-start", index, part }, {
    type: "part-end",
    index,
  }]);
  const image: ReplyEvent = {
    type: "image",
    index: 4,
    image: { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "aGk=" } },
  };
  const frames = write([BEGIN, ...events, image, FINISH]);
  assertEquals(frames.map(({ type }) => type), [
    "message_start",
    "content_block_start",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  assertEquals(frames[1]?.content_block, { type: "tool_use", id: "a", name: "look", input: {} });
  assertEquals((itemAt(frames, 3).delta as JsonObject).stop_reason, "tool_use");
});

Deno.test("messages event writer always reports usage at the end", () => {
  const counted = write([BEGIN, { ...FINISH, usage: { ...NO_USAGE, freshTokens: 3, outputTokens: 4 } }]);
  assertEquals([counted[1]?.type, (itemAt(counted, 1).usage as JsonObject).input_tokens], ["message_delta", 3]);
  assertEquals((itemAt(counted, 1).usage as JsonObject).output_tokens, 4);
  const atStart = write([{ ...BEGIN, usage: { ...NO_USAGE, freshTokens: 3 } }, FINISH]);
  assertEquals((itemAt(atStart, 1).usage as JsonObject).input_tokens, 3);
  assertEquals((itemAt(write([BEGIN, FINISH]), 1).usage as JsonObject).output_tokens, 0);
});

Deno.test("messages event writer writes a call's signature before it, or before the next block if it arrives too late", () => {
  const signature = { format: "content" as const, issuer: "google", value: "c2ln" };
  const call = { kind: "tool_call", callId: "a", tool: "look" } as const;
  const opened: ReplyEvent = { type: "part-start", index: 0, part: { ...call, isSigned: true } };
  const unsigned: ReplyEvent = { type: "part-start", index: 0, part: call };
  const signed: ReplyEvent = { type: "part-signature", index: 0, signature };
  const spoken: ReplyEvent = { type: "part-delta", index: 0, text: "{}" };
  const ended: ReplyEvent = { type: "part-end", index: 0 };
  const blocksOf = (events: ReplyEvent[]) =>
    write([BEGIN, ...events, FINISH]).filter(({ type }) => type === "content_block_start")
      .map(({ content_block: block }) => (block as JsonObject).type);
  assertEquals(blocksOf([opened, signed, spoken, ended]), ["thinking", "tool_use"]);
  const next: ReplyEvent[] = [
    { type: "part-start", index: 1, part: { kind: "text" } },
    { type: "part-delta", index: 1, text: "a" },
    { type: "part-end", index: 1 },
  ];
  assertEquals(blocksOf([unsigned, spoken, signed, ended, ...next]), ["tool_use", "thinking", "text"]);
  assertEquals(blocksOf([unsigned, spoken, signed, ended]), ["tool_use"]);
  const delta = itemAt(write([BEGIN, opened, signed, spoken, ended, FINISH]), 2).delta;
  assertEquals(delta, { type: "signature_delta", signature: writeSignature(signature, "messages") });
});

Deno.test("messages event writer wraps a custom tool's free text as JSON", () => {
  const part = { kind: "tool_call" as const, callId: "a", tool: "patch", custom: true };
  const texts = ['say "', "hi\n", "\ud83d", "\ude00"];
  const frames = write([
    BEGIN,
    { type: "part-start", index: 0, part },
    ...texts.map((text): ReplyEvent => ({ type: "part-delta", index: 0, text })),
    { type: "part-end", index: 0 },
    FINISH,
  ]);
  const json = frames.map(({ delta }) => (delta as JsonObject | undefined)?.partial_json ?? "").join("");
  assertEquals(JSON.parse(json), { input: texts.join("") });
});

Deno.test("messages event writer reports a failure as an error event", () => {
  const writer = messages.caller.eventWriter(contextWith());
  writer.write(BEGIN);
  const failure: ReplyEvent = { type: "error", message: "Overloaded", vendorCode: "overloaded_error", status: 529 };
  const body = (type: string, message: string) => ({
    event: "error",
    data: JSON.stringify({ type: "error", error: { type, message }, request_id: "req_abc" }),
  });
  assertEquals(writer.write(failure), [body("overloaded_error", "Overloaded")]);
  assertEquals(writer.fail(new GatewayError("upstream_timeout", "Late")), [body("timeout_error", "Late")]);
});
