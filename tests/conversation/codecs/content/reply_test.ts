import { assertEquals, assertThrows } from "@std/assert";
import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";
import type { Reply, ReplyPart, Stop } from "../../../../src/conversation/neutral/reply.ts";
import { readSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";

const CONTEXT: ReplyContext = {
  model: "anthropic/claude",
  requestId: "req_1",
  createdAt: 1,
  conversation: null,
  includeUsage: false,
};

function reply(some: Partial<Reply>): Reply {
  const stop: Stop = { reason: "end", raw: null };
  return { id: "r", model: "m", createdAt: null, parts: [], stop, usage: null, unsupportedFields: [], ...some };
}

function written(some: Partial<Reply>) {
  // deno-lint-ignore no-explicit-any -- tests look into bodies freely
  return content.caller.writeReply(reply(some), CONTEXT).body as any;
}

function read(...parts: JsonObject[]): Reply {
  return content.upstream.readReply({ responseId: "r", candidates: [{ content: { parts }, finishReason: "STOP" }] });
}

for (const body of ["<html>", "", null, {}, [], { choices: [] }, { error: { code: 400 } }, { type: "message" }]) {
  Deno.test(`readReply throws a TypeError on ${JSON.stringify(body)}`, () => {
    assertThrows(() => content.upstream.readReply(body), TypeError);
  });
}

const REASONS: readonly (readonly [word: string, reason: Stop["reason"]])[] = [
  ["STOP", "end"],
  ["MAX_TOKENS", "max_tokens"],
  ["SAFETY", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["SPII", "content_filter"],
  ["RECITATION", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["MALFORMED_FUNCTION_CALL", "bad_tool_call"],
  ["UNEXPECTED_TOOL_CALL", "bad_tool_call"],
  ["TOO_MANY_TOOL_CALLS", "bad_tool_call"],
  ["MALFORMED_RESPONSE", "bad_tool_call"],
  ["CONTINUATION", "paused"],
  ["OTHER", "end"],
];

for (const [word, reason] of REASONS) {
  Deno.test(`readReply reads ${word} as ${reason}, and writeReply keeps it`, () => {
    const parts = [{ text: "x" }];
    const candidate = { content: { parts }, finishReason: word, finishMessage: "why" };
    const { stop } = content.upstream.readReply({ candidates: [candidate] });
    const expected: Stop = reason === "end" ? { reason, raw: word } : { reason, raw: word, explanation: "why" };
    assertEquals(stop, expected);
    assertEquals(written({ stop }).candidates[0].finishReason, word);
  });
}

const WORDS: readonly (readonly [stop: Stop, word: string])[] = [
  [{ reason: "end", raw: "end_turn" }, "STOP"],
  [{ reason: "stop_sequence", raw: "stop_sequence", sequence: "x" }, "STOP"],
  [{ reason: "tool_calls", raw: "tool_use" }, "STOP"],
  [{ reason: "refusal", raw: "refusal" }, "SAFETY"],
  [{ reason: "max_tokens", raw: "length" }, "MAX_TOKENS"],
  [{ reason: "context_full", raw: "model_context_window_exceeded" }, "MAX_TOKENS"],
  [{ reason: "content_filter", raw: "content_filter" }, "SAFETY"],
  [{ reason: "bad_tool_call", raw: null }, "MALFORMED_FUNCTION_CALL"],
  [{ reason: "paused", raw: "pause_turn" }, "CONTINUATION"],
  [{ reason: "end", raw: "NO_IMAGE" }, "NO_IMAGE"],
];

for (const [stop, word] of WORDS) {
  Deno.test(`writeReply writes the stop ${stop.reason} as ${word}`, () => {
    assertEquals(written({ stop }).candidates[0].finishReason, word);
  });
}

Deno.test("readReply returns tool_calls when there is a call, whatever the vendor sent", () => {
  assertEquals(read({ functionCall: { name: "f" } }).stop, { reason: "tool_calls", raw: "STOP" });
});

Deno.test("a blocked prompt is a reply without candidates, both ways", () => {
  const body = { promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "why" }, responseId: "r" };
  const blocked = content.upstream.readReply(body);
  assertEquals(blocked.stop, { reason: "prompt_blocked", raw: "SAFETY", explanation: "why" });
  assertEquals(blocked.parts, []);
  assertEquals(written({ stop: blocked.stop }), { ...body, modelVersion: CONTEXT.model });
  assertEquals(written({ stop: { reason: "prompt_blocked", raw: "refusal" } }).promptFeedback.blockReason, "OTHER");
});

Deno.test("readReply makes distinct ids from the reply's id for calls without one", () => {
  const calls = read({ functionCall: { name: "f" } }, { functionCall: { name: "f", args: {} } }).parts;
  const ids = calls.map((part) => part.kind === "tool_call" ? part.callId : "");
  assertEquals(ids.map((id) => /^call_[0-9a-f]{24}$/.test(id)), [true, true]);
  assertEquals(new Set(ids).size, 2);
  assertEquals(calls.map((part) => part.kind === "tool_call" ? part.input : ""), ["{}", "{}"]);
});

Deno.test("readReply makes different ids for two replies without one", () => {
  const body = { candidates: [{ content: { parts: [{ functionCall: { name: "f" } }] } }] };
  const ids = [content.upstream.readReply(body), content.upstream.readReply(body)].map(({ parts: [part] }) =>
    part!.kind === "tool_call" ? part!.callId : ""
  );
  assertEquals(ids[0] === ids[1], false);
});

Deno.test("readReply skips drafts and unknown parts, and reports the unknown ones", () => {
  const draft = { thought: true, inlineData: { mimeType: "image/png", data: "AAAA" } };
  const audio = { inlineData: { mimeType: "audio/wav", data: "AAAA" } };
  const { parts, unsupportedFields } = read({ text: "a" }, draft, { executableCode: { code: "1" } }, audio, {
    text: "b",
  });
  assertEquals(parts, [{ kind: "text", text: "a" }, { kind: "text", text: "b" }]);
  assertEquals(unsupportedFields, ["candidates.content.parts.executableCode", "candidates.content.parts.inlineData"]);
});

Deno.test("readReply joins texts up to a signature, and attaches a trailing signature to the text before it", () => {
  const signature = { format: "content" as const, issuer: null, value: "AAAA" };
  const { parts } = read({ text: "a" }, { text: "b" }, { text: "", thoughtSignature: "AAAA" }, { text: "c" });
  assertEquals(parts, [{ kind: "text", text: "ab", signature }, { kind: "text", text: "c" }]);
});

Deno.test("writeReply writes model, id and time as the vendor does", () => {
  const body = written({ id: "", createdAt: 1_700_000_000, parts: [{ kind: "text", text: "x" }] });
  assertEquals(body, {
    candidates: [{ content: { parts: [{ text: "x" }], role: "model" }, finishReason: "STOP", index: 0 }],
    modelVersion: "anthropic/claude",
    responseId: "req_1",
    createTime: "2023-11-14T22:13:20.000Z",
  });
  assertEquals("createTime" in written({ createdAt: 1e18 }), false);
});

Deno.test("writeReply wraps another format's signature so that it can be read back with its reasoning", () => {
  const signature = { format: "messages" as const, issuer: "anthropic", value: "sig" };
  const parts: ReplyPart[] = [
    { kind: "reasoning", text: "hm", signature },
    { kind: "tool_call", callId: "toolu_1", tool: "f", input: "{}", signature },
  ];
  const [thought, call] = written({ parts }).candidates[0].content.parts;
  assertEquals([thought.text, thought.thought], ["hm", true]);
  assertEquals(readSignature(thought.thoughtSignature, "content"), signature);
  assertEquals(call.functionCall, { id: "toolu_1", name: "f", args: {} });
  assertEquals(readSignature(call.thoughtSignature, "content"), signature);
});

Deno.test("writeReply leaves out a call that a limit cut off, and wraps other invalid arguments", () => {
  const parts: ReplyPart[] = [{ kind: "tool_call", callId: "1", tool: "f", input: '{"a":' }];
  const cut = written({ parts, stop: { reason: "max_tokens", raw: "length" } });
  assertEquals(cut.candidates[0].content, { role: "model" });
  assertEquals(cut.candidates[0].finishReason, "MAX_TOKENS");
  const odd = written({ parts, stop: { reason: "tool_calls", raw: null } });
  assertEquals(odd.candidates[0].content.parts[0].functionCall.args, { _raw: '{"a":' });
});

Deno.test("writeReply writes a refusal as text, and reports it", () => {
  const { body, droppedFields } = content.caller.writeReply(
    reply({ parts: [{ kind: "refusal", text: "no" }] }),
    CONTEXT,
  );
  assertEquals((body.candidates as JsonObject[])[0]!.content, { parts: [{ text: "no" }], role: "model" });
  assertEquals(droppedFields, ["refusal"]);
});
