import { assert, assertEquals, assertRejects } from "@std/assert";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, streamText, type ToolSet } from "ai";
import OpenAI from "openai";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { itemAt } from "../../../support/items.ts";
import { CONTEXT } from "./context.ts";

const USAGE = { ...NO_USAGE, freshTokens: 7, outputTokens: 5, reasoningTokens: 2 };

/** An agent's stream: reasoning, text, two interleaved calls, and a call without arguments. */
const LIVELY: readonly ReplyEvent[] = [
  { type: "start", id: "msg_1", model: "vendor-model", createdAt: 5, usage: null },
  { type: "part-start", index: 0, part: { kind: "reasoning" } },
  { type: "part-delta", index: 0, text: "First " },
  { type: "part-delta", index: 0, text: "this" },
  { type: "part-signature", index: 0, signature: { format: "messages", issuer: "anthropic", value: "c2ln" } },
  { type: "part-end", index: 0 },
  { type: "part-start", index: 1, part: { kind: "text" } },
  { type: "part-delta", index: 1, text: "Hello" },
  { type: "part-delta", index: 1, text: " world" },
  { type: "part-end", index: 1, citations: [{ url: "https://a.example", title: "A", start: 0, end: 5 }] },
  { type: "part-start", index: 2, part: { kind: "tool_call", callId: "call_a", tool: "weather" } },
  { type: "part-start", index: 3, part: { kind: "tool_call", callId: "call_b", tool: "time", isSigned: true } },
  { type: "part-signature", index: 3, signature: { format: "content", issuer: "google", value: "dGhvdWdodA==" } },
  { type: "part-delta", index: 2, text: '{"city":' },
  { type: "part-end", index: 3 },
  { type: "part-delta", index: 2, text: '"Bern"}' },
  { type: "part-end", index: 2 },
  { type: "finish", stop: { reason: "end", raw: "end_turn" }, usage: USAGE },
];

const WHOLE: Reply = {
  id: "msg_1",
  model: "vendor-model",
  createdAt: 5,
  parts: [
    { kind: "reasoning", text: "First this" },
    {
      kind: "text",
      text: "Hello world",
      citations: [{ url: "https://a.example", title: null, start: null, end: null }],
    },
    { kind: "tool_call", callId: "call_a", tool: "weather", input: '{"city":"Bern"}' },
  ],
  stop: { reason: "tool_calls", raw: "tool_use" },
  usage: USAGE,
  unsupportedFields: [],
};

function wireOf(frames: readonly Frame[]): Response {
  const text = frames.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

function streamOf(events: readonly ReplyEvent[]): Response {
  const writer = responses.caller.eventWriter(CONTEXT);
  return wireOf(events.flatMap((event) => writer.write(event)));
}

function officialClient(answer: () => Response): OpenAI {
  return new OpenAI({
    apiKey: "none",
    baseURL: "http://127.0.0.1:9/v1",
    maxRetries: 0,
    fetch: () => Promise.resolve(answer()),
  });
}

function toolkit(answer: () => Response) {
  const fetch = () => Promise.resolve(answer());
  return createOpenAI({ apiKey: "none", baseURL: "http://127.0.0.1:9/v1", fetch })("model");
}

const inputSchema = jsonSchema({ type: "object" });
const TOOLS: ToolSet = { weather: { inputSchema }, time: { inputSchema } };

Deno.test("the official client joins a written stream to the response in the last event", async () => {
  const stream = officialClient(() => streamOf(LIVELY)).responses.stream({ model: "m", input: "hi" });
  const seen: string[] = [];
  for await (const event of stream) seen.push(event.type);
  const final = await stream.finalResponse();
  assertEquals(seen[0], "response.created");
  assertEquals(seen.at(-1), "response.completed");
  assertEquals(final.output_text, "Hello world");
  assertEquals(final.output.map(({ type }) => type), [
    "reasoning",
    "message",
    "function_call",
    "reasoning",
    "function_call",
  ]);
  const calls = final.output.filter((item) => item.type === "function_call");
  assertEquals(calls.map((call) => [call.name, call.arguments]), [["weather", '{"city":"Bern"}'], ["time", "{}"]]);
  assertEquals(final.usage?.total_tokens, 12);
});

Deno.test("the AI SDK reads reasoning, text and calls of a written stream", async () => {
  const errors: unknown[] = [];
  const stream = streamText({
    model: toolkit(() => streamOf(LIVELY)),
    prompt: "hi",
    tools: TOOLS,
    maxRetries: 0,
    onError: ({ error }) => void errors.push(error),
  });
  await stream.consumeStream();
  assertEquals(errors, []);
  assertEquals(await stream.text, "Hello world");
  assertEquals(await stream.reasoningText, "First this");
  assertEquals((await stream.sources).length, 1);
  const calls = (await stream.toolCalls).map(({ toolCallId, input }) => [toolCallId, input]);
  assertEquals(calls, [["call_b", {}], ["call_a", { city: "Bern" }]]);
  assertEquals(await stream.finishReason, "tool-calls");
  assertEquals((await stream.usage).totalTokens, 12);
});

Deno.test("the AI SDK and the official client read a written response object", async () => {
  const answer = () => Response.json(responses.caller.writeReply(WHOLE, CONTEXT).body);
  const generated = await generateText({ model: toolkit(answer), prompt: "hi", tools: TOOLS, maxRetries: 0 });
  assertEquals(generated.text, "Hello world");
  assertEquals(generated.reasoningText, "First this");
  assertEquals(generated.sources.length, 1);
  assertEquals(generated.toolCalls.map(({ input }) => input), [{ city: "Bern" }]);
  const created = await officialClient(answer).responses.create({ model: "m", input: "hi" });
  assertEquals(created.output_text, "Hello world");
});

Deno.test("both clients report a failure in the middle of a stream", async () => {
  const broken = () => {
    const writer = responses.caller.eventWriter(CONTEXT);
    const error = new GatewayError("upstream_error", "The vendor hung up");
    return wireOf([...LIVELY.slice(0, 8).flatMap((event) => writer.write(event)), ...writer.fail(error)]);
  };
  const stream = officialClient(broken).responses.stream({ model: "m", input: "hi" });
  await assertRejects(() => stream.finalResponse(), OpenAI.APIError, "The vendor hung up");
  const errors: unknown[] = [];
  const text = streamText({
    model: toolkit(broken),
    prompt: "hi",
    maxRetries: 0,
    onError: ({ error }) => void errors.push(error),
  });
  await text.consumeStream();
  assertEquals(errors.length > 0, true);
});

Deno.test("the official client reads a stream that a limit cut off, without the partial call", async () => {
  const cut: readonly ReplyEvent[] = [
    ...LIVELY.slice(0, 11),
    { type: "part-delta", index: 2, text: '{"ci' },
    { type: "part-end", index: 2 },
    { type: "finish", stop: { reason: "max_tokens", raw: "length" }, usage: USAGE },
  ];
  const final = await officialClient(() => streamOf(cut)).responses.stream({ model: "m", input: "hi" }).finalResponse();
  assertEquals(final.status, "incomplete");
  assertEquals(final.output.map(({ type }) => type), ["reasoning", "message"]);
});

Deno.test("the official client reads a refusal and an image", async () => {
  const events: readonly ReplyEvent[] = [
    itemAt(LIVELY, 0),
    {
      type: "image",
      index: 0,
      image: { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
    },
    { type: "finish", stop: { reason: "refusal", raw: "refusal", explanation: "No." }, usage: null },
  ];
  const final = await officialClient(() => streamOf(events)).responses.stream({ model: "m", input: "hi" })
    .finalResponse();
  assertEquals(final.output.map(({ type }) => type), ["image_generation_call", "message"]);
  assert(JSON.stringify(final.output[1]).includes('"refusal":"No."'));
});

Deno.test("the official client reads a stream with keepalive events", async () => {
  const writer = responses.caller.eventWriter(CONTEXT);
  const alive = () => [writer.keepalive?.() ?? null].filter((each) => each !== null);
  assertEquals(alive(), [], "the client fails on an event before response.created");
  const frames = LIVELY.flatMap((event) => [...writer.write(event), ...alive()]);
  assertEquals(alive(), [], "no event follows the end");
  const numbers = frames.map(({ data }) => JSON.parse(data).sequence_number);
  assertEquals(numbers, numbers.map((_, at) => at));
  const client = new OpenAI({ apiKey: "k", fetch: () => Promise.resolve(wireOf(frames)) });
  const stream = client.responses.stream({ model: "m", input: "hi" });
  const seen: string[] = [];
  for await (const event of stream) seen.push(event.type);
  assert(seen.filter((type) => type as string === "keepalive").length > 5);
  assertEquals((await stream.finalResponse()).output_text, "Hello world");
});

Deno.test("the AI SDK reads a stream with keepalive events", async () => {
  const writer = responses.caller.eventWriter(CONTEXT);
  const frames = LIVELY.flatMap((event) =>
    [...writer.write(event), ...[writer.keepalive?.() ?? null]].filter((each) => each !== null)
  );
  const provider = createOpenAI({ apiKey: "k", fetch: () => Promise.resolve(wireOf(frames)) });
  const result = streamText({ model: provider.responses("m"), prompt: "hi" });
  assertEquals(await result.text, "Hello world");
});
