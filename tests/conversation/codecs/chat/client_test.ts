import { assertEquals, assertRejects } from "@std/assert";
import OpenAI from "openai";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import { NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { CONTEXT } from "./conversations.ts";

/** The official client with these frames as its response. */
function clientOf(frames: readonly Frame[]): OpenAI {
  const body = frames.map(({ data }) => `data: ${data}\n\n`).join("");
  const answer = () => Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  return new OpenAI({ apiKey: "k", baseURL: "http://gateway.test/v1", fetch: answer, maxRetries: 0 });
}

function final(client: OpenAI) {
  const messages = [{ role: "user" as const, content: "Hi" }];
  return client.chat.completions.stream({ model: "m", messages }).finalChatCompletion();
}

const START: ReplyEvent = { type: "start", id: "msg_1", model: "v", createdAt: 1, usage: null };

Deno.test("the official client reads the chat event writer's stream: reasoning, text, parallel calls and usage", async () => {
  const writer = chat.caller.eventWriter({ ...CONTEXT, includeUsage: true });
  const signature = { format: "messages" as const, issuer: "a", value: "s" };
  const events: ReplyEvent[] = [
    START,
    { type: "part-start", index: 0, part: { kind: "reasoning" } },
    { type: "part-delta", index: 0, text: "hm" },
    { type: "part-signature", index: 0, signature },
    { type: "part-end", index: 0 },
    { type: "part-start", index: 1, part: { kind: "text" } },
    { type: "part-delta", index: 1, text: "I " },
    { type: "part-start", index: 2, part: { kind: "tool_call", callId: "a", tool: "f" } },
    { type: "part-start", index: 3, part: { kind: "tool_call", callId: "b", tool: "g" } },
    { type: "part-delta", index: 3, text: '{"x":' },
    { type: "part-delta", index: 1, text: "look" },
    { type: "part-delta", index: 3, text: "1}" },
    { type: "part-end", index: 1 },
    { type: "part-end", index: 2 },
    { type: "part-end", index: 3 },
    {
      type: "finish",
      stop: { reason: "end", raw: "end_turn" },
      usage: { ...NO_USAGE, freshTokens: 2, outputTokens: 3 },
    },
  ];
  const completion = await final(clientOf(events.flatMap((event) => writer.write(event))));
  const { message, finish_reason: finish } = completion.choices[0]!;
  assertEquals([message.content, finish, completion.usage?.total_tokens], ["I look", "tool_calls", 5]);
  const calls = message.tool_calls?.map((call) => call.type === "function" && [call.id, call.function]);
  assertEquals(calls?.map((call) => call && [call[0], (call[1] as { name: string }).name]), [["a", "f"], ["b", "g"]]);
  assertEquals(calls?.map((call) => call && (call[1] as { arguments: string }).arguments).sort(), ['{"x":1}', "{}"]);
});

Deno.test("the official client raises the chat event writer's failure", async () => {
  const writer = chat.caller.eventWriter(CONTEXT);
  const frames = [...writer.write(START), ...writer.fail(new GatewayError("upstream_error", "The stream was cut"))];
  await assertRejects(() => final(clientOf(frames)), Error, "The stream was cut");
});
