import { eventReaderOf } from "../../../support/event_reader.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { ReplyPart } from "../../../../src/conversation/neutral/reply.ts";
import { NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { replyOf } from "../../../support/assemble.ts";
import { CONTEXT } from "./conversations.ts";
import type { Loose } from "./conversations.ts";

function chunk(delta: JsonObject, finish: string | null = null): JsonObject {
  return { id: "c1", model: "m", created: 1, choices: [{ index: 0, delta, finish_reason: finish }] };
}

function read(...chunks: (JsonObject | "[DONE]")[]): ReplyEvent[] {
  const reader = eventReaderOf(chat);
  const data = chunks.map((one) => one === "[DONE]" ? one : JSON.stringify(one));
  return [...data.flatMap((line) => reader.read({ event: null, data: line })), ...reader.end()];
}

function parts(...deltas: JsonObject[]): readonly ReplyPart[] {
  return replyOf(read(...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), "[DONE]")).parts;
}

function calls(...deltas: JsonObject[]) {
  return parts(...deltas.map((delta) => ({ tool_calls: [delta] }))).map((part) =>
    part.kind === "tool_call" && [part.callId, part.tool, part.input]
  );
}

Deno.test("chat event reader starts at the first choice", () => {
  const blocked = { id: "", model: "", created: 0, choices: [], prompt_filter_results: [] };
  const events = read(blocked, chunk({ role: "assistant", content: "" }), chunk({ content: "x" }, "stop"), "[DONE]");
  assertEquals(events[0], { type: "start", id: "c1", model: "m", createdAt: 1, usage: null });
});

Deno.test("chat event reader joins the deltas of a call, whatever the vendor leaves out", () => {
  const piece = (text: string | null, more: JsonObject = {}) => ({ ...more, function: { arguments: text } });
  const head = { id: "a", type: "function", function: { name: "f", arguments: "" } };
  const expected = [["a", "f", '{"x":1}']];
  assertEquals(calls({ index: 0, ...head }, piece('{"x"', { index: 0 }), piece(":1}", { index: 0 })), expected);
  assertEquals(calls({ index: 7, ...head }, piece('{"x":1}', { index: 7 }), piece(null, { index: 7 })), expected);
  assertEquals(calls(head, piece('{"x":1}')), expected);
  assertEquals(calls({ id: "a", function: { name: "f", arguments: '{"x":1}' } }), expected);
  assertEquals(
    calls({ index: 0, ...head }, { index: 0, ...head, function: { name: "f", arguments: '{"x":1}' } }),
    expected,
  );
  assertEquals(calls({ index: 0, ...head }, piece('{"x":1}', { index: 0, id: "", type: "function" })), expected);
  assertEquals(
    calls({ index: 0, id: "a", ...piece('{"x"') }, { index: 0, function: { name: "f", arguments: ":1}" } }),
    expected,
  );
  assertEquals(calls({ id: "a", function: { name: "f", arguments: { x: 1 } } }), expected);
});

Deno.test("chat event reader distinguishes calls by index, by id, and where a vendor numbers each one 0", () => {
  const whole = (id: string, more: JsonObject = {}) => ({ ...more, id, function: { name: `f${id}`, arguments: "{}" } });
  const expected = [["a", "fa", "{}"], ["b", "fb", "{}"]];
  assertEquals(calls(whole("a", { index: 0 }), whole("b", { index: 1 })), expected);
  assertEquals(calls(whole("a"), whole("b")), expected);
  assertEquals(calls(whole("a", { index: 0 }), whole("b", { index: 0 })), expected);
  const ids = calls({ function: { name: "f" } }, { function: { name: "f" } }).map((call) => call && call[0]);
  assertEquals(new Set(ids).size, 2);
});

Deno.test("chat event reader makes the same ids as the reply reader", () => {
  const call = { function: { name: "f", arguments: "{}" } };
  const whole = chat.upstream.readReply({ ...chunk({}), choices: [{ message: { tool_calls: [call, call] } }] });
  assertEquals(parts({ tool_calls: [{ index: 0, ...call }] }, { tool_calls: [{ index: 1, ...call }] }), whole.parts);
});

Deno.test("chat event reader lets calls overlap and ends each", () => {
  const events = read(
    chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] }),
    chunk({ tool_calls: [{ index: 1, id: "b", function: { name: "g", arguments: "" } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }, { index: 1, function: { arguments: "[]" } }] }),
    chunk({}, "tool_calls"),
    "[DONE]",
  );
  assertEquals(events.slice(1).map((event) => [event.type, "index" in event ? event.index : null]), [
    ["part-start", 0],
    ["part-start", 1],
    ["part-delta", 0],
    ["part-delta", 1],
    ["part-end", 0],
    ["part-end", 1],
    ["finish", null],
  ]);
});

Deno.test("chat event reader reads reasoning of every dialect, once", () => {
  const thought = [{ kind: "reasoning", text: "hmm" }, { kind: "text", text: "x" }] as const;
  const both = (one: JsonObject, two: JsonObject) => parts(one, two, { content: "x" });
  assertEquals(both({ reasoning_content: "hm", content: null }, { reasoning_content: "m" }), thought);
  assertEquals(both({ reasoning: "hm", reasoning_content: "hm" }, { reasoning: "m" }), thought);
  const detail = (text: string) => ({
    reasoning: text,
    reasoning_details: [{ type: "reasoning.text", text, index: 0 }],
  });
  assertEquals(both(detail("hm"), detail("m")), thought);
  const piece = (text: string) => ({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] });
  assertEquals(both(piece("hm"), piece("m")), thought);
});

Deno.test("chat event reader joins reasoning in deltas and its signature to the signature of the whole detail", () => {
  const piece = (more: JsonObject) => ({
    reasoning_details: [{ type: "reasoning.text", format: "v1", index: 0, ...more }],
  });
  const whole = chat.upstream.readReply({
    choices: [{ message: { ...piece({ text: "hmm", signature: "s" }), content: "x" } }],
  });
  assertEquals(
    parts(piece({ text: "hm" }), piece({ text: "m" }), piece({ signature: "s" }), { content: "x" }),
    whole.parts,
  );
});

Deno.test("chat event reader starts a new part for reasoning after text", () => {
  const kinds = parts({ reasoning_content: "a" }, { content: "b" }, { reasoning_content: "c" }, { content: "d" })
    .map(({ kind }) => kind);
  assertEquals(kinds, ["reasoning", "text", "reasoning", "text"]);
});

Deno.test("chat event reader reads the usage between the finish reason and the end marker", () => {
  const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
  const finish = read(chunk({ content: "x" }, "stop"), { choices: [], usage }, "[DONE]").at(-1);
  assertEquals(finish?.type === "finish" && finish.usage, { ...NO_USAGE, freshTokens: 2, outputTokens: 3 });
});

Deno.test("chat event reader finishes once, with or without an end marker, and never a stream that was cut off", () => {
  const text = chunk({ content: "x" });
  const finishes = (...chunks: (JsonObject | "[DONE]")[]) =>
    read(...chunks).filter(({ type }) => type === "finish").length;
  assertEquals(finishes(text, chunk({}, "stop"), "[DONE]", "[DONE]"), 1);
  assertEquals(finishes(text, chunk({}, "stop"), chunk({}, "stop")), 1);
  assertEquals(finishes(text, "[DONE]"), 1);
  assertEquals(finishes(text), 0);
  assertEquals(finishes("[DONE]"), 0);
});

Deno.test("chat event reader reports a failure in the stream and nothing after it", () => {
  const failed = { error: { message: "Overloaded", code: 503 } };
  const events = read(chunk({ content: "x" }), failed, chunk({ content: "y" }, "stop"), "[DONE]");
  assertEquals(events.at(-1), { type: "error", message: "Overloaded", vendorCode: null, status: 503 });
  assertEquals(read(chunk({}, "error")).at(-1)?.type, "error");
  const reader = eventReaderOf(chat);
  const [event] = reader.read({ event: "error", data: '{"message":"gone"}' });
  assertEquals(event?.type === "error" && event.message, "gone");
});

Deno.test("chat event reader throws on invalid JSON and ignores other shapes", () => {
  assertThrows(() => eventReaderOf(chat).read({ event: null, data: "<html>" }), SyntaxError);
  for (
    const data of ["null", "[]", '"x"', "{}", '{"choices":null}', '{"choices":[null]}', '{"choices":[{"delta":1}]}']
  ) {
    eventReaderOf(chat).read({ event: null, data });
  }
});

Deno.test("chat event reader reads only the first choice", () => {
  const second = { choices: [{ index: 1, delta: { content: "no" } }] };
  assertEquals(replyOf(read(chunk({ content: "x" }, "stop"), second, "[DONE]")).parts, [{ kind: "text", text: "x" }]);
});

function written(events: ReplyEvent[], includeUsage = false): Loose[] {
  const writer = chat.caller.eventWriter({ ...CONTEXT, includeUsage });
  const frames = events.flatMap((event) => writer.write(event));
  assert(frames.every(({ event }) => event === null));
  return frames.map(({ data }) => data === "[DONE]" ? data : JSON.parse(data));
}

const START: ReplyEvent = { type: "start", id: "msg_1", model: "v", createdAt: null, usage: null };
const FINISH: ReplyEvent = { type: "finish", stop: { reason: "end", raw: null }, usage: NO_USAGE };

function deltas(...events: ReplyEvent[]): Loose[] {
  return written([START, ...events, FINISH]).slice(1, -2).map(({ choices }) => choices[0].delta);
}

Deno.test("chat event writer starts with the role and ends with a finish reason and the end marker", () => {
  const [first, last, mark] = written([START, FINISH]);
  assertEquals(first, {
    id: "msg_1",
    object: "chat.completion.chunk",
    created: 7,
    model: "prov/m",
    choices: [{
      index: 0,
      delta: { role: "assistant", content: "", refusal: null },
      logprobs: null,
      finish_reason: null,
    }],
  });
  assertEquals([last.choices[0].delta, last.choices[0].finish_reason, mark], [{}, "stop", "[DONE]"]);
});

Deno.test("chat event writer writes usage only if requested, after the finish reason, and null before", () => {
  assert(written([START, FINISH]).every((one) => one === "[DONE]" || !("usage" in one)));
  const [first, , usage] = written([START, FINISH], true);
  assertEquals(first.usage, null);
  assertEquals([usage.choices, usage.usage.total_tokens, usage.id], [[], 0, "msg_1"]);
});

Deno.test("chat event writer numbers calls from 0 and names each once", () => {
  const open = (index: number, callId: string): ReplyEvent => ({
    type: "part-start",
    index,
    part: { kind: "tool_call", callId, tool: "f" },
  });
  const said = deltas(
    { type: "part-start", index: 0, part: { kind: "text" } },
    { type: "part-end", index: 0 },
    open(1, "a"),
    open(2, "b"),
    { type: "part-delta", index: 2, text: "[]" },
    { type: "part-delta", index: 1, text: '{"x":' },
    { type: "part-delta", index: 1, text: "1}" },
    { type: "part-end", index: 1 },
    { type: "part-end", index: 2 },
  );
  const head = (index: number, id: string) => ({ index, id, type: "function", function: { name: "f", arguments: "" } });
  assertEquals(said.map((delta) => delta.tool_calls[0]), [
    head(0, "a"),
    head(1, "b"),
    { index: 1, function: { arguments: "[]" } },
    { index: 0, function: { arguments: '{"x":' } },
    { index: 0, function: { arguments: "1}" } },
  ]);
});

Deno.test("chat event writer gives a call without arguments an empty object", () => {
  const said = deltas(
    { type: "part-start", index: 0, part: { kind: "tool_call", callId: "a", tool: "f" } },
    { type: "part-end", index: 0 },
  );
  assertEquals(said.map(({ tool_calls: [call] }) => call.function.arguments).join(""), "{}");
});

Deno.test("chat event writer puts an early signature into the call's first chunk", () => {
  const signature = { format: "content" as const, issuer: "google", value: "s" };
  const [first] = deltas(
    { type: "part-start", index: 0, part: { kind: "tool_call", callId: "a", tool: "f", isSigned: true } },
    { type: "part-signature", index: 0, signature },
    { type: "part-end", index: 0 },
  );
  assert(first.tool_calls[0].extra_content.google.thought_signature.startsWith("c3kx"));
});

Deno.test("chat event writer writes tool_calls after any call, and a refusal's explanation before the end", () => {
  const call: ReplyEvent[] = [
    { type: "part-start", index: 0, part: { kind: "tool_call", callId: "a", tool: "f" } },
    { type: "part-end", index: 0 },
  ];
  assertEquals(written([START, ...call, FINISH]).at(-2).choices[0].finish_reason, "tool_calls");
  const refused: ReplyEvent = {
    type: "finish",
    stop: { reason: "refusal", raw: null, explanation: "no" },
    usage: null,
  };
  const [, explained, end] = written([START, refused]);
  assertEquals([explained.choices[0].delta, end.choices[0].finish_reason], [{ refusal: "no" }, "stop"]);
});

Deno.test("chat event writer fails with an error frame and no end marker", () => {
  const writer = chat.caller.eventWriter(CONTEXT);
  const frames = writer.fail(new GatewayError("upstream_error", "The stream was cut"));
  assertEquals(frames.map(({ event, data }) => [event, JSON.parse(data)]), [[null, {
    error: { message: "The stream was cut", type: "upstream_error", code: "upstream_error", param: null },
  }]]);
  const [frame] = writer.write({ type: "error", message: "slow down", vendorCode: "overloaded", status: 429 });
  assertEquals(JSON.parse(frame!.data).error, {
    message: "slow down",
    type: "rate_limit_error",
    code: "overloaded",
    param: null,
  });
});
