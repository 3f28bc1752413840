import { assertEquals, assertThrows } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { CONTEXT } from "./conversations.ts";
import type { Loose } from "./conversations.ts";

function read(message: JsonObject, finish: unknown = "stop", more: JsonObject = {}): Reply {
  return chat.upstream.readReply({
    id: "c1",
    model: "m",
    created: 1,
    choices: [{ message, finish_reason: finish }],
    ...more,
  });
}

function write(fields: Partial<Reply>) {
  const reply: Reply = {
    id: "c1",
    model: "m",
    createdAt: null,
    parts: [],
    stop: { reason: "end", raw: null },
    usage: null,
    unsupportedFields: [],
    ...fields,
  };
  const { body, droppedFields } = chat.caller.writeReply(reply, CONTEXT);
  const choice = (body as Loose).choices[0];
  return { body: body as Loose, message: choice.message, finish: choice.finish_reason, droppedFields };
}

Deno.test("chat reply reader throws on input that is not a reply", () => {
  const shapes = [null, "<html>", {}, [], { choices: [] }, { choices: [{}] }, { type: "message", content: [] }, {
    error: { message: "x" },
  }];
  for (const body of shapes) assertThrows(() => chat.upstream.readReply(body), TypeError);
  assertThrows(() => read({ content: "half" }, "error"), TypeError);
});

Deno.test("chat reply reader reads calls without id, type or arguments, and arguments as an object", () => {
  const { parts, stop } = read({
    content: null,
    tool_calls: [
      { id: "", function: { name: "a" } },
      { function: { name: "b", arguments: { x: 1 } } },
      { id: "c", type: "function", function: { name: "c", arguments: "{broken" } },
    ],
  });
  assertEquals(parts.map((part) => part.kind === "tool_call" && [part.tool, part.input]), [["a", "{}"], [
    "b",
    '{"x":1}',
  ], [
    "c",
    "{broken",
  ]]);
  const ids = parts.map((part) => part.kind === "tool_call" && part.callId);
  assertEquals([new Set(ids).size, ids[2]], [3, "c"]);
  assertEquals(stop, { reason: "end", raw: "stop" });
});

Deno.test("chat reply reader reads reasoning once, from any dialect", () => {
  const thoughts = (message: JsonObject) =>
    read({ content: "x", ...message }).parts.filter(({ kind }) => kind === "reasoning");
  assertEquals(thoughts({ reasoning_content: "a", reasoning: "a" }), [{ kind: "reasoning", text: "a" }]);
  assertEquals(thoughts({ reasoning: "a", reasoning_details: [{ type: "reasoning.text", text: "a" }] }), [
    { kind: "reasoning", text: "a" },
  ]);
  const summary = { type: "reasoning.summary", summary: "a", index: 0 };
  const hidden = { type: "reasoning.encrypted", data: "zz", index: 1 };
  assertEquals(thoughts({ reasoning: "a", reasoning_details: [summary, hidden] }), [
    { kind: "reasoning", text: "a" },
    {
      kind: "reasoning",
      text: "",
      signature: { format: "chat", issuer: null, value: '{"data":"zz","index":1,"type":"reasoning.encrypted"}' },
      redacted: true,
    },
  ]);
});

Deno.test("chat reply reader reads the dialects' finish reasons and unknown ones as an end", () => {
  const stop = (finish: unknown, message: JsonObject = { content: "x" }) => read(message, finish).stop;
  assertEquals(stop("length").reason, "max_tokens");
  assertEquals(stop("model_length").reason, "context_full");
  assertEquals(stop("sensitive").reason, "content_filter");
  assertEquals(stop("toString"), { reason: "end", raw: "toString" });
  assertEquals(stop(null), { reason: "end", raw: null });
  assertEquals(stop(null, { tool_calls: [{ function: { name: "f" } }] }).reason, "tool_calls");
  assertEquals(stop("stop", { content: null, refusal: "no" }).reason, "refusal");
  assertEquals(stop("function_call", { function_call: { name: "f", arguments: "{}" } }).reason, "tool_calls");
});

Deno.test("chat reply reader attaches citations of every dialect to the first text", () => {
  const annotation = {
    type: "url_citation",
    url_citation: { url: "https://a", title: "A", start_index: 0, end_index: 3 },
  };
  const { parts } = read({ content: "abc", annotations: [annotation] }, "stop", {
    citations: ["https://b"],
    search_results: [{ url: "https://b", title: "B" }],
  });
  assertEquals(parts, [{
    kind: "text",
    text: "abc",
    citations: [
      { url: "https://a", title: "A", start: 0, end: 3 },
      { url: "https://b", title: "B", start: null, end: null },
    ],
  }]);
});

Deno.test("chat reply reader reports unsupported fields", () => {
  const body = {
    choices: [{
      message: { content: "x", executed_tools: [{}], role: "assistant", audio: { id: "a", transcript: "said" } },
      logprobs: { content: [] },
    }, {}],
    moderation: { input: {} },
  };
  assertEquals(chat.upstream.readReply(body).unsupportedFields, [
    "message.executed_tools",
    "message.audio",
    "choices[1]",
    "moderation",
  ]);
});

Deno.test("chat reply writer writes tool_calls whenever there is a call", () => {
  const call = { kind: "tool_call" as const, callId: "a", tool: "f", input: "{}" };
  assertEquals(write({ parts: [call], stop: { reason: "end", raw: "STOP" } }).finish, "tool_calls");
  assertEquals(write({ parts: [call] }).message.content, null);
});

Deno.test("chat reply writer drops a call that a limit cut off and reports the limit", () => {
  const call = { kind: "tool_call" as const, callId: "a", tool: "f", input: '{"a":' };
  const { message, finish, droppedFields } = write({ parts: [call], stop: { reason: "max_tokens", raw: null } });
  assertEquals([message.tool_calls, finish, droppedFields], [undefined, "length", ["tool_call"]]);
  assertEquals(write({ parts: [call], stop: { reason: "tool_calls", raw: null } }).message.tool_calls.length, 1);
});

Deno.test("chat reply writer converts every stop", () => {
  const told = (reason: Reply["stop"]["reason"], explanation?: string) => {
    const { finish, message } = write({
      stop: { reason, raw: null, ...(explanation === undefined ? {} : { explanation }) },
    });
    return [finish, message.refusal];
  };
  assertEquals(told("stop_sequence"), ["stop", null]);
  assertEquals(told("context_full"), ["length", null]);
  assertEquals(told("refusal"), ["content_filter", null]);
  assertEquals(told("refusal", "no"), ["stop", "no"]);
  assertEquals(told("prompt_blocked", "no"), ["content_filter", "no"]);
  assertEquals(told("bad_tool_call"), ["stop", null]);
  assertEquals(told("paused"), ["stop", null]);
});

Deno.test("chat reply writer makes an id and a time where the vendor gave none, and keeps the caller's model", () => {
  const { body } = write({ id: "" });
  assertEquals([body.id, body.created, body.model, "usage" in body], ["chatcmpl-req_1", 7, "prov/m", false]);
});

Deno.test("chat reply writer moves offsets of citations by the text before", () => {
  const cited = (text: string, start: number | null, end: number | null) => ({
    kind: "text" as const,
    text,
    citations: [{ url: "https://a", title: null, start, end }],
  });
  const { message } = write({ parts: [cited("abc", 1, 2), cited("defg", null, null)] });
  assertEquals(message.annotations.map((one: Loose) => one.url_citation), [
    { url: "https://a", title: "", start_index: 1, end_index: 2 },
    { url: "https://a", title: "", start_index: 3, end_index: 7 },
  ]);
});
