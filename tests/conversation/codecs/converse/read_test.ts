import { assertEquals, assertThrows } from "@std/assert";
import { converse, readCount, writeCountRequest } from "../../../../src/conversation/codecs/converse/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { ReplyPart } from "../../../../src/conversation/neutral/reply.ts";
import { NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { replyOf } from "../../../support/assemble.ts";
import { conversationOf, targetOf } from "../../../support/conversations.ts";
import { eventReaderOf } from "../../../support/event_reader.ts";
import { RECORDINGS } from "../../../support/recordings.ts";

const { readReply, readUsage, readError } = converse.upstream;

function replyWith(content: JsonObject[], fields: JsonObject = {}): JsonObject {
  return { output: { message: { role: "assistant", content } }, stopReason: "end_turn", ...fields };
}

function frame(event: string, body: unknown): Frame {
  return { event, data: JSON.stringify(body) };
}

function eventsIn(...frames: Frame[]): ReplyEvent[] {
  const reader = eventReaderOf(converse);
  return [...frames.flatMap((each) => reader.read(each)), ...reader.end()];
}

const delta = (contentBlockIndex: number, fields: JsonObject) =>
  frame("contentBlockDelta", { contentBlockIndex, delta: fields });
const stop = (contentBlockIndex: number) => frame("contentBlockStop", { contentBlockIndex });
const MESSAGE_STOP = frame("messageStop", { stopReason: "end_turn" });
const METADATA = frame("metadata", { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, metrics: {} });

Deno.test("converse codec: a whole reply with every kind of block", () => {
  const web = {
    title: "T",
    location: { web: { url: "https://e.com/a", domain: "e.com" } },
    sourceContent: [{ text: "c" }],
  };
  const reply = readReply(replyWith([
    { text: "" },
    { reasoningContent: { reasoningText: { text: "Hm", signature: "c2ln" } } },
    { reasoningContent: { reasoningText: { text: "Open" } } },
    { reasoningContent: { redactedContent: "eA==" } },
    { text: "Hello" },
    {
      citationsContent: {
        content: [{ text: "Ci" }, { text: "ted" }],
        citations: [web, { location: { documentPage: {} } }],
      },
    },
    { image: { format: "png", source: { bytes: "aGk=" } } },
    { toolUse: { toolUseId: "t1", name: "weather", input: { city: "Bern" } } },
    { toolUse: { toolUseId: "s1", name: "nova_grounding", input: {}, type: "server_tool_use" } },
    { guardContent: {} },
  ]));
  const signature = (value: string) => ({ format: "converse", issuer: null, value }) as const;
  const expected: ReplyPart[] = [
    { kind: "reasoning", text: "Hm", signature: signature("c2ln") },
    { kind: "reasoning", text: "Open" },
    { kind: "reasoning", text: "", redacted: true, signature: signature("eA==") },
    { kind: "text", text: "Hello" },
    {
      kind: "text",
      text: "Cited",
      citations: [{ url: "https://e.com/a", title: "T", start: 0, end: 5, citedText: "c" }],
    },
    { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "aGk=" } },
    { kind: "tool_call", callId: "t1", tool: "weather", input: '{"city":"Bern"}' },
  ];
  assertEquals(reply.parts, expected);
  assertEquals(reply.unsupportedFields, [
    "output.message.content.citationsContent.citations",
    "output.message.content.toolUse",
    "output.message.content.guardContent",
  ]);
});

Deno.test("converse codec: anything else is no reply", () => {
  for (const body of [null, [], {}, { output: {} }, { output: { message: { content: "text" } } }]) {
    assertThrows(() => readReply(body), TypeError, "Cannot read the reply");
  }
});

Deno.test("converse codec: stop reasons", () => {
  const reasonOf = (stopReason?: string) => readReply(replyWith([], { stopReason })).stop.reason;
  assertEquals(
    ["end_turn", "tool_use", "max_tokens", "stop_sequence", "guardrail_intervened", "content_filtered"].map(reasonOf),
    ["end", "tool_calls", "max_tokens", "stop_sequence", "content_filter", "content_filter"],
  );
  assertEquals(
    ["malformed_tool_use", "malformed_model_output", "model_context_window_exceeded", "constructor"].map(reasonOf),
    ["bad_tool_call", "bad_tool_call", "context_full", "end"],
  );
  assertEquals(reasonOf(undefined), "end");
});

Deno.test("converse codec: usage counts each token once, with and without those of caches in the input", () => {
  const usageIn = (usage: JsonObject, more: JsonObject = {}) => readUsage({ usage, ...more });
  assertEquals(usageIn({ inputTokens: 10, outputTokens: 4, totalTokens: 14 }), {
    ...NO_USAGE,
    freshTokens: 10,
    outputTokens: 4,
  });
  const cached = { inputTokens: 10, outputTokens: 4, cacheReadInputTokens: 6, cacheWriteInputTokens: 3 };
  const split = { ...NO_USAGE, cacheReadTokens: 6, cacheWrite5mTokens: 3, outputTokens: 4 };
  assertEquals(usageIn({ ...cached, totalTokens: 23 }), { ...split, freshTokens: 10 });
  assertEquals(usageIn({ ...cached, totalTokens: 14 }), { ...split, freshTokens: 1 });
  assertEquals(usageIn(cached), { ...split, freshTokens: 10 });
  const cacheDetails = [{ ttl: "1h", inputTokens: 2 }, { ttl: "5m", inputTokens: 1 }];
  assertEquals(usageIn({ ...cached, totalTokens: 23, cacheDetails }), {
    ...split,
    freshTokens: 10,
    cacheWrite5mTokens: 1,
    cacheWrite1hTokens: 2,
  });
  assertEquals(usageIn({ inputTokens: 1, outputTokens: 1 }, { serviceTier: { type: "flex" } })?.serviceTier, "flex");
  assertEquals(usageIn({ inputTokens: -1, outputTokens: 1 })?.isUnreadable, true);
  assertEquals([readUsage({}), usageIn({}), readUsage(null)], [null, null, null]);
});

Deno.test("converse codec: a stream with reasoning, text and calls", () => {
  const reply = replyOf(eventsIn(
    frame("messageStart", { role: "assistant" }),
    delta(0, { reasoningContent: { text: "H" } }),
    delta(0, { reasoningContent: { text: "m" } }),
    delta(0, { reasoningContent: { signature: "c2ln" } }),
    stop(0),
    delta(1, { text: "" }),
    delta(1, { text: "Hel" }),
    delta(1, { text: "lo" }),
    delta(1, { citation: { title: "T", location: { web: { url: "https://e.com" } } } }),
    stop(1),
    frame("contentBlockStart", { contentBlockIndex: 2, start: { toolUse: { toolUseId: "t1", name: "weather" } } }),
    delta(2, { toolUse: { input: '{"city":' } }),
    delta(2, { toolUse: { input: '"Bern"}' } }),
    stop(2),
    frame("messageStop", { stopReason: "tool_use" }),
    METADATA,
  ));
  assertEquals(reply.parts, [
    { kind: "reasoning", text: "Hm", signature: { format: "converse", issuer: null, value: "c2ln" } },
    { kind: "text", text: "Hello", citations: [{ url: "https://e.com", title: "T", start: 0, end: 5 }] },
    { kind: "tool_call", callId: "t1", tool: "weather", input: '{"city":"Bern"}' },
  ]);
  assertEquals([reply.stop.reason, reply.usage?.outputTokens], ["tool_calls", 2]);
});

Deno.test("converse codec: the usage may come before or after the stop, or not at all", () => {
  const text = delta(0, { text: "Hi" });
  const finishOf = (...frames: Frame[]) => eventsIn(text, ...frames).at(-1);
  for (const frames of [[MESSAGE_STOP, METADATA], [METADATA, MESSAGE_STOP]]) {
    const finish = finishOf(...frames);
    assertEquals(finish?.type === "finish" && finish.usage?.freshTokens, 3);
  }
  const finish = finishOf(MESSAGE_STOP);
  assertEquals(finish?.type === "finish" && finish.usage, null);
});

Deno.test("converse codec: a stream without a stop was cut off", () => {
  for (const frames of [[], [METADATA], [stop(0)]]) {
    const events = eventsIn(delta(0, { text: "Hi" }), ...frames);
    assertEquals(events.map(({ type }) => type), ["start", "part-start", "part-delta", "part-end"]);
  }
  assertEquals(eventsIn(), []);
});

Deno.test("converse codec: blocks of tools that the vendor runs are skipped", () => {
  const reply = replyOf(eventsIn(
    frame("contentBlockStart", {
      contentBlockIndex: 0,
      start: { toolUse: { toolUseId: "s", name: "nova_grounding", type: "server_tool_use" } },
    }),
    delta(0, { toolUse: { input: "{}" } }),
    stop(0),
    frame("contentBlockStart", { contentBlockIndex: 1, start: { toolResult: { toolUseId: "s" } } }),
    delta(1, { toolResult: [{ text: "found" }] }),
    stop(1),
    delta(2, { text: "So" }),
    MESSAGE_STOP,
    METADATA,
  ));
  assertEquals(reply.parts, [{ kind: "text", text: "So" }]);
});

Deno.test("converse codec: redacted reasoning, and blocks that are never ended", () => {
  const reply = replyOf(eventsIn(
    delta(0, { reasoningContent: { redactedContent: "eA==" } }),
    delta(1, { text: "One" }),
    delta(2, { text: "Two" }),
    MESSAGE_STOP,
    METADATA,
  ));
  assertEquals(reply.parts, [
    { kind: "reasoning", text: "", redacted: true, signature: { format: "converse", issuer: null, value: "eA==" } },
    { kind: "text", text: "One" },
    { kind: "text", text: "Two" },
  ]);
});

Deno.test("converse codec: exceptions end the stream with their status", () => {
  for (
    const [exception, status] of [
      ["validationException", 400],
      ["throttlingException", 429],
      ["internalServerException", 500],
      ["modelStreamErrorException", 500],
      ["serviceUnavailableException", 503],
      ["modelTimeoutException", 504],
      ["unknownException", null],
    ] as const
  ) {
    const events = eventsIn(delta(0, { text: "Hi" }), frame(exception, { message: "No" }), delta(0, { text: "more" }));
    assertEquals(events.at(-1), { type: "error", message: "No", vendorCode: exception, status });
  }
});

Deno.test("converse codec: error bodies", () => {
  assertEquals(readError({ message: "No" }), { message: "No", code: null, field: null, retryAfterSeconds: null });
  assertEquals(readError({ Message: "No", __type: "com.amazon#ValidationException" }).code, "ValidationException");
  assertEquals(readError({ message: "Input is too long for requested model." }).code, "context_length_exceeded");
  assertEquals(readError("<html>").message, "");
});

Deno.test("converse codec: tokens are counted of the parts that count", () => {
  const conversation = conversationOf({
    instructions: [{ kind: "text", text: "Be" }],
    maxOutputTokens: 5,
    metadata: { a: "b" },
  });
  const { body } = writeCountRequest(conversation, targetOf({ model: "amazon.nova-lite-v1:0" }));
  assertEquals(body, {
    input: { converse: { messages: [{ role: "user", content: [{ text: "Hi" }] }], system: [{ text: "Be" }] } },
  });
  assertEquals(readCount({ inputTokens: 7 }), 7);
  assertThrows(() => readCount({ input_tokens: 7 }), TypeError);
});

Deno.test({
  name: "converse codec: recorded replies are read, whole and as streams",
  ignore: RECORDINGS === null, // the recordings are not part of the repository
  fn() {
    const folder = `${RECORDINGS}/bedrock-converse`;
    const kindsOf = (parts: readonly ReplyPart[]) => parts.map(({ kind }) => kind).join(" ");
    const read: Record<string, string> = {};
    for (const { name } of [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1)) {
      const text = Deno.readTextFileSync(`${folder}/${name}`);
      const frames = () =>
        text.split("\n").filter((line) => line !== "").map((line): Frame => {
          const [[event = "", body] = []] = Object.entries(JSON.parse(line));
          return frame(event, body);
        });
      const { parts, stop, usage } = name.endsWith(".json")
        ? readReply(JSON.parse(text))
        : replyOf(eventsIn(...frames()));
      read[name] = `${kindsOf(parts)}, ${stop.reason}, ${usage?.outputTokens ?? "no usage"}`;
    }
    assertEquals(Object.keys(read).length, 15);
    assertEquals(read["amazon-bedrock-reasoning.json"], "reasoning text, end, 78");
    assertEquals(read["amazon-bedrock-tool-call.1.chunks.txt"], "tool_call, tool_calls, 45");
    assertEquals(read["amazon-bedrock-json-tool.3.chunks.txt"], "text text text tool_call, tool_calls, no usage");
    assertEquals(
      Object.values(read).filter((line) => !/^(reasoning |text )*(text|tool_call)\b.*, (end|tool_calls), /.test(line)),
      [],
    );
  },
});
