import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import type { Reply, ReplyPart, Stop } from "../../../../src/conversation/neutral/reply.ts";
import { WRAPPED_SIGNATURE_PREFIX, writeSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import { itemAt } from "../../../support/items.ts";
import { callPart, contextWith, conversationWith, replyWith, textPart } from "./samples.ts";

function write(parts: readonly ReplyPart[], fields: Partial<Reply> = {}) {
  return messages.caller.writeReply(replyWith(parts, fields), contextWith());
}

Deno.test("messages reply reads text, thinking and calls, and skips the vendor's own tools by name", () => {
  const reply = messages.upstream.readReply({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "server_tool_use", id: "s", name: "web_fetch", input: {} },
      { type: "web_fetch_tool_result", tool_use_id: "s", content: [] },
      { type: "text", text: "", citations: null },
      {
        type: "text",
        text: "Yes",
        citations: [{ type: "web_search_result_location", url: "https://e.com", title: null }],
      },
      { type: "tool_use", id: "toolu_1", name: "look", input: { at: "a" } },
      { type: "hologram" },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 7 },
  });
  assertEquals(reply.parts, [
    { kind: "reasoning", text: "hm", signature: { format: "messages", issuer: null, value: "c2ln" } },
    { kind: "text", text: "Yes", citations: [{ url: "https://e.com", title: null, start: 0, end: 3 }] },
    { kind: "tool_call", callId: "toolu_1", tool: "look", input: '{"at":"a"}' },
  ]);
  assertEquals(reply.stop, { reason: "tool_calls", raw: "tool_use" });
  assertEquals(reply.usage?.freshTokens, 5);
  assertEquals(reply.unsupportedFields, [
    "content.server_tool_use",
    "content.web_fetch_tool_result",
    "content.hologram",
  ]);
});

Deno.test("messages reply reads a wrapped signature of another gateway as its vendor's own", () => {
  const value = writeSignature({ format: "content", issuer: "google", value: "x" }, "messages");
  const { parts } = messages.upstream.readReply({
    type: "message",
    content: [{ type: "thinking", thinking: "", signature: value }],
    stop_reason: "end_turn",
  });
  assertEquals(parts, [{ kind: "reasoning", text: "", signature: { format: "messages", issuer: null, value } }]);
});

Deno.test("messages reply throws on input that is not a reply", () => {
  const others = [
    "<html>",
    null,
    {},
    [],
    { choices: [] },
    { type: "error", error: { message: "x" } },
    { type: "message", content: "x" },
    { type: "completion", content: [] },
  ];
  for (const body of others) assertThrows(() => messages.upstream.readReply(body), TypeError);
});

Deno.test("messages reply reads every stop reason", () => {
  const stops: [raw: string | null, reason: string][] = [
    ["end_turn", "end"],
    ["max_tokens", "max_tokens"],
    ["stop_sequence", "stop_sequence"],
    ["tool_use", "tool_calls"],
    ["pause_turn", "paused"],
    ["refusal", "refusal"],
    ["model_context_window_exceeded", "context_full"],
    ["toString", "end"],
    [null, "end"],
  ];
  for (const [raw, reason] of stops) {
    const { stop } = messages.upstream.readReply({ content: [], stop_reason: raw });
    assertEquals(stop, { reason, raw } as Stop);
  }
  assertEquals(
    messages.upstream.readReply({
      content: [],
      stop_reason: "refusal",
      stop_sequence: "END",
      stop_details: { explanation: "no" },
    }).stop,
    { reason: "refusal", raw: "refusal", sequence: "END", explanation: "no" },
  );
});

Deno.test("messages reply writes the stop on which agents act", () => {
  const word = (stop: Partial<Stop>, parts: ReplyPart[] = []) => {
    const { body } = write(parts, { stop: { reason: "end", raw: "x", ...stop } });
    return body.stop_reason;
  };
  const call = callPart("a");
  assertEquals(word({}, [call]), "tool_use");
  assertEquals(word({ reason: "max_tokens" }, [call]), "max_tokens");
  assertEquals(word({ reason: "tool_calls" }), "end_turn");
  assertEquals(word({}, [{ kind: "refusal", text: "No" }]), "refusal");
  assertEquals(word({ reason: "content_filter" }), "refusal");
  assertEquals(word({ reason: "prompt_blocked" }), "refusal");
  assertEquals(word({ reason: "bad_tool_call" }), "end_turn");
  assertEquals(word({ reason: "paused" }), "pause_turn");
  assertEquals(word({ reason: "context_full" }), "model_context_window_exceeded");
  assertEquals(word({ reason: "stop_sequence" }), "end_turn");
  assertEquals(word({ reason: "stop_sequence", sequence: "END" }), "stop_sequence");
});

Deno.test("messages reply has the caller's model and a valid id", () => {
  const { body } = write([textPart("Hi")], { id: "chatcmpl-1", model: "gpt" });
  assertEquals(body, {
    id: "msg_abc",
    type: "message",
    role: "assistant",
    model: "anthropic/claude",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 0,
      inference_geo: null,
      service_tier: null,
    },
  });
});

Deno.test("messages reply drops a call that a limit cut off, and only that", () => {
  const stop: Stop = { reason: "max_tokens", raw: "length" };
  const cut = write([textPart("Hi"), callPart("a", "look", '{"at":"b')], { stop });
  assertEquals((cut.body.content as JsonObject[]).map((block) => block.type), ["text"]);
  assertEquals([cut.body.stop_reason, cut.droppedFields], ["max_tokens", ["tool_call"]]);
  const whole = write([callPart("a", "look", '{"at":"b"}')], { stop });
  assertEquals((whole.body.content as JsonObject[]).length, 1);
});

Deno.test("messages reply marks unsigned thinking so that it can be found", () => {
  const { body } = write([{ kind: "reasoning", text: "hm" }]);
  const { signature } = itemAt(body.content as JsonObject[], 0);
  assertEquals(String(signature).startsWith(WRAPPED_SIGNATURE_PREFIX), true);
  assertEquals(messages.upstream.readReply(body).parts, [{ kind: "reasoning", text: "hm" }]);
});

Deno.test("messages reply writes a call's signature before it, and a text's only for callers that requested thinking", () => {
  const signature = { format: "content" as const, issuer: "google", value: "c2ln" };
  const parts: ReplyPart[] = [{ ...textPart("Hi"), signature }, { ...callPart("a"), signature }];
  const typesFor = (asked: boolean) => {
    const reasoning = asked ? { effort: "low" as const, budgetTokens: null, visible: null } : null;
    const conversation = conversationWith({ reasoning });
    const { body, droppedFields } = messages.caller.writeReply(replyWith(parts), contextWith({ conversation }));
    return [(body.content as JsonObject[]).map((block) => block.type), droppedFields];
  };
  assertEquals(typesFor(true), [["text", "thinking", "thinking", "tool_use"], []]);
  assertEquals(typesFor(false), [["text", "thinking", "tool_use"], []]);
  const [, carrier] = write(parts).body.content as JsonObject[];
  assertEquals(carrier, { type: "thinking", thinking: "", signature: writeSignature(signature, "messages") });
});

Deno.test("messages reply leaves out unsupported parts, and reports them", () => {
  const { body, droppedFields } = write([
    { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "aGk=" } },
    textPart("a"),
    textPart(""),
    { kind: "reasoning", text: "" },
    { kind: "reasoning", text: "", redacted: true },
    { ...callPart("c", "patch", "free"), custom: true },
  ]);
  assertEquals(body.content, [
    { type: "text", text: "a" },
    { type: "tool_use", id: "c", name: "patch", input: { input: "free" } },
  ]);
  assertEquals(droppedFields, ["image"]);
});
