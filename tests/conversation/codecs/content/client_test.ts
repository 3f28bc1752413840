import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { ApiError, GoogleGenAI } from "@google/genai";
import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { eventsOf } from "./arbitraries.ts";

const CONTEXT: ReplyContext = {
  model: "anthropic/claude",
  requestId: "req_1",
  createdAt: 1,
  conversation: null,
  includeUsage: false,
};

const REPLY: Reply = {
  id: "r",
  model: "m",
  createdAt: null,
  parts: [
    { kind: "reasoning", text: "let me see", signature: { format: "messages", issuer: "anthropic", value: "sig" } },
    { kind: "text", text: "Looking, žluťoučký 😀" },
    { kind: "tool_call", callId: "toolu_1", tool: "look", input: '{"at":[1,2]}' },
    { kind: "tool_call", callId: "toolu_2", tool: "listen", input: "{}" },
  ],
  stop: { reason: "tool_calls", raw: "tool_use" },
  usage: {
    freshTokens: 5,
    cacheReadTokens: 3,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
    toolPromptTokens: 0,
    outputTokens: 9,
    reasoningTokens: 4,
  },
  unsupportedFields: [],
};

/** Runs the official client against one prepared response on a local server. */
async function withClient(answer: () => Response, use: (client: GoogleGenAI) => Promise<void>): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.body?.cancel();
    return answer();
  });
  try {
    const baseUrl = `http://127.0.0.1:${server.addr.port}`;
    await use(new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl } }));
  } finally {
    await server.shutdown();
  }
}

function streamOf(frames: readonly Frame[]): Response {
  const text = frames.map((frame) => `data: ${frame.data}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

function framesOf(events: readonly ReplyEvent[]): Frame[] {
  const writer = content.caller.eventWriter(CONTEXT);
  return events.flatMap((event) => writer.write(event));
}

const REQUEST = { model: "anthropic/claude", contents: "hi" };

Deno.test("the official client reads a whole reply with its text, calls and usage", async () => {
  await withClient(() => Response.json(content.caller.writeReply(REPLY, CONTEXT).body), async (client) => {
    const reply = await client.models.generateContent(REQUEST);
    assertEquals(reply.text, "Looking, žluťoučký 😀");
    assertEquals(reply.functionCalls?.map((call) => [call.id, call.name, call.args]), [
      ["toolu_1", "look", { at: [1, 2] }],
      ["toolu_2", "listen", {}],
    ]);
    assertEquals(`${reply.candidates?.[0]?.finishReason}`, "STOP");
    assertEquals([reply.usageMetadata?.totalTokenCount, reply.usageMetadata?.thoughtsTokenCount], [17, 4]);
    assertEquals([reply.modelVersion, reply.responseId], ["anthropic/claude", "r"]);
  });
});

Deno.test("the official client reads a stream, and sends back what was streamed", async () => {
  await withClient(() => streamOf(framesOf(eventsOf(REPLY, 3, true))), async (client) => {
    const chat = client.chats.create({ model: "anthropic/claude" });
    let text = "";
    for await (const chunk of await chat.sendMessageStream({ message: "hi" })) text += chunk.text ?? "";
    assertEquals(text, "Looking, žluťoučký 😀");
    const contents = JSON.parse(JSON.stringify(chat.getHistory(true)));
    const [, said] = readChecked(content.caller, { model: "anthropic/claude", contents }).turns;
    assertEquals(said!.parts, [...REPLY.parts]);
  });
});

Deno.test("the official client throws for a failure in a stream, and for one before a stream", async () => {
  const error = new GatewayError("upstream_error", "The provider broke off");
  const begun = framesOf(eventsOf(REPLY, 3, false)).slice(0, 2);
  const failed = content.caller.eventWriter(CONTEXT).fail(error);
  await withClient(() => streamOf([...begun, ...failed]), async (client) => {
    const stream = await client.models.generateContentStream(REQUEST);
    const thrown = await assertRejects(async () => {
      for await (const chunk of stream) assertEquals(chunk.candidates?.length, 1);
    }, ApiError);
    assertEquals(thrown.status, 502);
  });
  const early = () => Response.json(content.caller.writeError(error, "req_1"), { status: error.status });
  await withClient(early, async (client) => {
    const thrown = await assertRejects(() => client.models.generateContent(REQUEST), ApiError, "broke off");
    assertEquals(thrown.status, 502);
  });
});

Deno.test("the official client reads a blocked prompt", async () => {
  const stop = { reason: "prompt_blocked" as const, raw: null, explanation: "not this" };
  await withClient(
    () => Response.json(content.caller.writeReply({ ...REPLY, parts: [], stop }, CONTEXT).body),
    async (client) => {
      const reply = await client.models.generateContent(REQUEST);
      assertEquals([`${reply.promptFeedback?.blockReason}`, reply.text], ["OTHER", undefined]);
    },
  );
});
