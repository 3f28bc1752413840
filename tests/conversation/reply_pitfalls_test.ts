import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { replyContextOf } from "../support/conversations.ts";
import { CODECS, eventsIn, FORMATS, framesOf, serialized, writtenAsStream, writtenWhole } from "../support/formats.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { streamOf } from "../support/stream_of.ts";

// Problems of translating replies that several formats share.

const CONTEXT = replyContextOf({ includeUsage: true });
const CALL = (callId: string, input = "{}"): ReplyPart => ({ kind: "tool_call", callId, tool: "look", input });

function replyOfParts(parts: readonly ReplyPart[], fields: Partial<Reply> = {}): Reply {
  const stop = { reason: "end" as const, raw: null };
  return { id: "r", model: "m", createdAt: 5, parts, stop, usage: null, unsupportedFields: [], ...fields };
}

/** The end markers of the formats. */
const END_MARKS: Readonly<Record<CallerFormatName, string>> = {
  chat: "[DONE]",
  responses: '"response.completed"',
  messages: '"message_stop"',
  content: '"finishReason"',
};

for (const form of FORMATS) {
  Deno.test(`a stream that was cut off never looks complete to a caller of ${form}`, () => {
    const cut = streamOf(replyOfParts([{ kind: "text", text: "half an ans" }])).slice(0, -2);
    const writer = CODECS[form].caller.eventWriter(CONTEXT);
    const failure = new GatewayError("upstream_error", "The provider's stream was cut");
    const frames = [...cut.flatMap((event) => writer.write(event)), ...writer.fail(failure)];
    const data = frames.map((frame) => frame.data).join("\n");
    assert(!data.includes(END_MARKS[form]), `an end mark in ${form}`);
    assertStringIncludes(data, "The provider's stream was cut");
    assertEquals(eventsIn(form, frames).some(({ type }) => type === "finish"), false);
  });

  Deno.test(`every frame of ${form} is one line of JSON with the event name that clients require`, () => {
    const parts: ReplyPart[] = [
      { kind: "reasoning", text: "a\nb" },
      { kind: "text", text: "c\r\nd\u2028e" },
      CALL("c1"),
    ];
    for (const { event, data } of framesOf(form, streamOf(replyOfParts(parts)), CONTEXT)) {
      assert(!/[\r\n]/.test(data));
      const isNamed = form === "messages" || form === "responses";
      assertEquals(event, isNamed ? JSON.parse(data).type : null);
    }
  });

  Deno.test(`a reply with a call has a stop on which a caller of ${form} continues, whatever the vendor sent`, () => {
    const reply = replyOfParts([{ kind: "text", text: "Let me see" }, CALL("c1")]);
    assertEquals(writtenWhole(form, reply, CONTEXT).stop.reason, "tool_calls");
    assertEquals(writtenAsStream(form, streamOf(reply), CONTEXT).stop.reason, "tool_calls");
  });

  Deno.test(`a call that a limit cut off is not complete for a caller of ${form}, and the limit is reported`, () => {
    const reply = replyOfParts([{ kind: "text", text: "Let me" }, CALL("c1", '{"path": "/e')], {
      stop: { reason: "max_tokens", raw: null },
    });
    const whole = writtenWhole(form, reply, CONTEXT);
    assertEquals([whole.parts.length, whole.stop.reason], [1, "max_tokens"]);
    assertEquals(writtenAsStream(form, streamOf(reply), CONTEXT).stop.reason, "max_tokens");
  });

  Deno.test(`a call without arguments is an empty object to a caller of ${form}, also streamed without a delta`, () => {
    const events: ReplyEvent[] = streamOf(replyOfParts([CALL("c1")])).filter(({ type }) => type !== "part-delta");
    const call = itemAt(writtenAsStream(form, events, CONTEXT).parts, 0);
    assert(call.kind === "tool_call");
    assertEquals(call.input, "{}");
  });

  Deno.test(`interleaved calls of a vendor stay separate for a caller of ${form}`, () => {
    const [start, ...rest] = atLeast(
      streamOf(replyOfParts([CALL("c1", '{"at":"one"}'), CALL("c2", '{"at":"two"}')]), 3),
      1,
    );
    const finish = rest.pop()!;
    const lanes = [0, 1].map((lane) => rest.filter((event) => "index" in event && event.index === lane));
    const [first, second] = atLeast(lanes, 2);
    const mixed = first.flatMap((event, at) => [event, itemAt(second, at)]);
    const { parts } = writtenAsStream(form, [start, ...mixed, finish], CONTEXT);
    assertEquals(parts.map((part) => part.kind === "tool_call" && part.input), ['{"at":"one"}', '{"at":"two"}']);
  });

  Deno.test(`reasoning after text is a part of its own for a caller of ${form}`, () => {
    const parts: ReplyPart[] = [{ kind: "text", text: "Yes" }, { kind: "reasoning", text: "hm" }, {
      kind: "text",
      text: "No",
    }];
    const told = writtenAsStream(form, streamOf(replyOfParts(parts)), CONTEXT).parts;
    assertEquals(told.filter(({ kind }) => kind === "reasoning").length, 1);
    assertEquals(told.flatMap((part) => part.kind === "text" ? [part.text] : []).join(""), "YesNo");
  });

  Deno.test(`the total of all kinds of usage is the same for a caller of ${form}`, () => {
    const usage = {
      freshTokens: 100,
      cacheReadTokens: 20,
      cacheWrite5mTokens: 3,
      cacheWrite1hTokens: 4,
      toolPromptTokens: 0,
      outputTokens: 50,
      reasoningTokens: 30,
    };
    const reply = replyOfParts([{ kind: "text", text: "Yes" }], { usage });
    const told = writtenWhole(form, reply, CONTEXT).usage!;
    const prompt = told.freshTokens + told.cacheReadTokens + told.cacheWrite5mTokens + told.cacheWrite1hTokens;
    assertEquals([prompt, told.cacheReadTokens, told.outputTokens, told.reasoningTokens], [127, 20, 50, 30]);
    assertEquals(writtenAsStream(form, streamOf(reply), CONTEXT).usage, told);
  });

  Deno.test(`web sources reach a caller of ${form} in its own shape, or are reported as dropped`, () => {
    const citations = [{ url: "https://a.example/x", title: "A", start: 0, end: 4 }];
    const { body, droppedFields } = CODECS[form].caller.writeReply(
      replyOfParts([{ kind: "text", text: "é😀b", citations }]),
      CONTEXT,
    );
    const part = itemAt(CODECS[form].upstream.readReply(serialized(body)).parts, 0);
    const told = (part.kind === "text" && part.citations || []).map(({ url, title, start, end }) => ({
      url,
      title,
      start,
      end,
    }));
    assertEquals([told, droppedFields], [citations, []]);
  });
}

/** Errors by which vendors of each format report that a prompt is too long. */
const OVERFLOWS: readonly (readonly [CallerFormatName, JsonObject])[] = [
  ["chat", { error: { message: "maximum context length is 8192 tokens", code: "context_length_exceeded" } }],
  ["responses", { error: { message: "Your input exceeds the context window", code: "context_length_exceeded" } }],
  ["messages", {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8" },
  }],
  ["content", {
    error: {
      code: 400,
      status: "INVALID_ARGUMENT",
      message: "The input token count (9) exceeds the maximum number of tokens allowed (8).",
    },
  }],
];

for (const [form, body] of OVERFLOWS) {
  Deno.test(`a prompt that is too long for a vendor of ${form} is reported in the words that other callers' tools search for`, () => {
    const { message, code } = CODECS[form].upstream.readError(body);
    const error = new GatewayError("invalid_request", message, { vendorCode: code! });
    const told = (to: CallerFormatName) => (CODECS[to].caller.writeError(error, "req_1").error as JsonObject);
    assertEquals([told("chat").code, told("responses").code], ["context_length_exceeded", "context_length_exceeded"]);
    assertStringIncludes(String(told("messages").message), "prompt is too long");
    assertEquals(told("content").status, "INVALID_ARGUMENT");
  });
}
