import Anthropic from "@anthropic-ai/sdk";
import { assertEquals, assertRejects } from "@std/assert";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import { messages } from "../../../../src/conversation/codecs/messages/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { ReplyPart } from "../../../../src/conversation/neutral/reply.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { eventsOf } from "./arbitraries.ts";
import { callPart, contextWith, replyWith, textPart } from "./samples.ts";

/** The official client with a prepared response in place of the network. */
function clientOf(answer: () => Response): Anthropic {
  return new Anthropic({
    apiKey: "key",
    baseURL: "http://127.0.0.1:9",
    maxRetries: 0,
    fetch: () => Promise.resolve(answer()),
  });
}

function streamOf(frames: readonly Frame[]): Response {
  const text = frames.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

const REQUEST: Anthropic.MessageCreateParamsNonStreaming = {
  model: "anthropic/claude",
  max_tokens: 100,
  messages: [{ role: "user", content: "hi" }],
};

const PARTS: ReplyPart[] = [
  { kind: "reasoning", text: "hm", signature: { format: "messages", issuer: null, value: "c2ln" } },
  textPart("Let me look"),
  { ...callPart("toolu_1", "look", '{"at":"a"}'), signature: { format: "content", issuer: "google", value: "c2ln" } },
  callPart("toolu_2", "wait"),
  { kind: "reasoning", text: "and" },
  textPart("Done"),
];

Deno.test("the official client joins a stream to the whole reply", async () => {
  const reply = replyWith(PARTS, {
    usage: {
      freshTokens: 5,
      cacheReadTokens: 4,
      cacheWrite5mTokens: 0,
      cacheWrite1hTokens: 0,
      toolPromptTokens: 0,
      outputTokens: 9,
      reasoningTokens: 2,
    },
  });
  const writer = messages.caller.eventWriter(contextWith());
  const frames = eventsOf(reply, [3, 1, 0, 2]).flatMap((event) => writer.write(event));
  const stream = clientOf(() => streamOf(frames)).messages.stream(REQUEST);
  const { content, stop_reason: stopReason, usage } = await stream.finalMessage();
  const whole = messages.caller.writeReply(reply, contextWith()).body;
  assertEquals(JSON.parse(JSON.stringify(content)), whole.content as never);
  assertEquals(stopReason, "tool_use");
  assertEquals([usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens], [5, 4, 9]);
});

Deno.test("the official client accepts a reply without usage or content", async () => {
  const writer = messages.caller.eventWriter(contextWith());
  const frames = eventsOf(replyWith([]), []).flatMap((event) => writer.write(event));
  const { content, usage } = await clientOf(() => streamOf(frames)).messages.stream(REQUEST).finalMessage();
  assertEquals([content, usage.output_tokens], [[], 0]);
});

Deno.test("the official client throws for a failure in a stream", async () => {
  const writer = messages.caller.eventWriter(contextWith());
  const begin: ReplyEvent = { type: "start", id: "", model: "m", createdAt: null, usage: null };
  const frames = [...writer.write(begin), ...writer.fail(new GatewayError("upstream_error", "Vendor failed"))];
  const stream = clientOf(() => streamOf(frames)).messages.stream(REQUEST);
  await assertRejects(() => stream.finalMessage(), Anthropic.APIError, "Vendor failed");
});

Deno.test("the official client distinguishes errors before the first byte by their type", async () => {
  const error = new GatewayError("rate_limited", "Slow down");
  const answer = () => Response.json(messages.caller.writeError(error, "req_1"), { status: error.status });
  const thrown = await assertRejects(() => clientOf(answer).messages.create(REQUEST), Anthropic.RateLimitError);
  assertEquals((thrown as InstanceType<typeof Anthropic.APIError>).type, "rate_limit_error");
});
