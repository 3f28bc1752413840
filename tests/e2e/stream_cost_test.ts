import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { GoogleGenAI } from "@google/genai";
import { assert, assertEquals } from "@std/assert";
import { streamText } from "ai";
import OpenAI from "openai";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { always, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { CALLER_PROTOCOLS, type CallerProtocol, CHAT, type Json, sendAs } from "./caller_protocols.ts";

const gateway = await startTestGateway();
const MODELS = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"];

/** The events of a stream. */
function eventsIn(text: string): Json[] {
  return [...text.matchAll(/^data: ?(\{.*)$/gm)].map(([, data]) => JSON.parse(data!));
}

function usageOf({ name }: CallerProtocol, event: Json): Json {
  const usage = name === "responses"
    ? event.response?.usage
    : name === "content"
    ? event.usageMetadata
    : name === "messages" && event.type !== "message_delta"
    ? null
    : event.usage;
  return usage ?? null;
}

async function chargeOf(id: string, { address, adminKey } = gateway): Promise<string> {
  const headers = { authorization: `Bearer ${adminKey}` };
  return (await (await fetch(`${address}/admin/v1/requests/${id}`, { headers })).json()).cost;
}

for (const protocol of CALLER_PROTOCOLS) {
  for (const model of MODELS) {
    Deno.test(`${protocol.name}: the last usage event of a stream of ${model} has the exact cost`, async () => {
      const extra = protocol.name === "chat" ? { stream_options: { include_usage: true } } : {};
      const { text, headers, status } = await sendAs(protocol, gateway, { model, stream: true, extra });
      assertEquals(status, 200, text);
      const usages = eventsIn(text).map((event) => usageOf(protocol, event)).filter((usage) => usage !== null);
      const cost = await chargeOf(headers.get("x-service-request-id")!);
      assertEquals(Number(cost) > 0, true);
      assertEquals(usages.map((usage) => "cost" in usage), usages.map((_, place) => place === usages.length - 1));
      assertEquals(text.split('"cost":').length, 2);
      assert(text.includes(`"cost":${cost}`), "with the digits of the charge");
    });
  }
}

Deno.test("chat: nothing is added to a stream without a usage event", async () => {
  for (const model of MODELS) {
    for (const extra of [{}, { stream_options: { include_usage: false } }]) {
      const { text } = await sendAs(CHAT, gateway, { model, stream: true, extra });
      assertEquals(text.includes("cost"), false);
    }
  }
});

Deno.test("whole replies have the cost in a header and no other body", async () => {
  for (const protocol of CALLER_PROTOCOLS) {
    const { text, headers } = await sendAs(protocol, gateway);
    assertEquals([text.includes('"cost"'), headers.has("x-service-cost")], [false, true]);
  }
});

/** A chat vendor whose stream consists of these parts, each sent when the last was read. */
async function streamedBy(parts: readonly string[]): Promise<{ text: string; cost: string }> {
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const vendor = startScriptedUpstream(always(`${head}${chunks}0\r\n\r\n`));
  const own = await startTestGateway({
    config: {
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "k", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
    },
  });
  try {
    const extra = { stream_options: { include_usage: true } };
    const { text, headers } = await sendAs(CHAT, own, { model: "acme/m", stream: true, extra });
    return { text, cost: await chargeOf(headers.get("x-service-request-id")!, own) };
  } finally {
    await own.stop();
    await vendor.stop();
  }
}

const chunkOf = (members: string) => `data: {"id":"c","object":"chat.completion.chunk","model":"m",${members}}\n\n`;
const START = chunkOf('"choices":[{"index":0,"delta":{"role":"assistant","content":"\\"usage\\":{}"}}]');
const USAGE = '"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15';
const FINISH = '"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]';
const DONE = "data: [DONE]\n\n";

Deno.test("the bytes of a passed stream differ in the cost alone, however the vendor cuts it", async () => {
  const streams: readonly (readonly string[])[] = [
    [START, chunkOf(FINISH), chunkOf(`"choices":[],${USAGE}}`), ": ping\n\n", DONE],
    [START, chunkOf(`${FINISH},${USAGE}}`), DONE],
    [START, chunkOf(`${FINISH},${USAGE}}`), chunkOf(`"choices":[],${USAGE}}`), DONE],
    [START, chunkOf(FINISH), chunkOf(`"choices":[],${USAGE}}`)],
    [START, chunkOf(FINISH), chunkOf(`"choices":[],${USAGE},"cost":0.5}`), DONE],
  ];
  for (const stream of streams) {
    const whole = stream.join("");
    for (const parts of [stream, [whole], whole.match(/[^]{1,7}/g)!]) {
      const { text, cost } = await streamedBy(parts);
      assertEquals(cost, "0.0000200000");
      const place = whole.lastIndexOf('"usage":{') + '"usage":{'.length;
      const expected = whole.includes('"cost":0.5')
        ? whole.replace('"cost":0.5', `"cost":${cost}`)
        : `${whole.slice(0, place)}"cost":${cost},${whole.slice(place)}`;
      assertEquals(text, expected);
    }
  }
});

Deno.test("official clients read streams with a cost, and those that keep unknown fields show it", async () => {
  const { address, key } = gateway;
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
  const chat = await openai.chat.completions.create({
    model: "sandbox/chat-1",
    messages: [{ role: "user", content: "x" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const costs: unknown[] = [];
  for await (const { usage } of chat) if (usage) costs.push((usage as Json).cost);
  const response = await openai.responses.stream({ model: "sandbox/chat-1", input: "x" }).finalResponse();
  costs.push((response.usage as Json).cost);
  const anthropic = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey: key, maxRetries: 0 });
  const message = anthropic.messages.stream({
    model: "sandbox/messages-1",
    max_tokens: 100,
    messages: [{ role: "user", content: "x" }],
  });
  for await (const event of message) if (event.type === "message_delta") costs.push((event.usage as Json).cost);
  const genai = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${address}/gencompat` } });
  let last: Json;
  for await (const chunk of await genai.models.generateContentStream({ model: "sandbox/content-1", contents: "x" })) {
    last = chunk.usageMetadata;
  }
  costs.push(last.cost);
  assertEquals(costs.map((cost) => typeof cost), Array(4).fill("number"));
});

Deno.test("the strict schemas of the AI SDK accept streams with a cost", async () => {
  const { address, key } = gateway;
  const openai = createOpenAI({ baseURL: `${address}/v1`, apiKey: key });
  const models = [
    openai.chat("sandbox/chat-1"),
    openai.responses("sandbox/chat-1"),
    createAnthropic({ baseURL: `${address}/msgcompat/v1`, apiKey: key })("sandbox/messages-1"),
    createGoogleGenerativeAI({ baseURL: `${address}/gencompat/v1beta`, apiKey: key })("sandbox/content-1"),
  ];
  for (const model of models) {
    const result = streamText({ model, prompt: "x", maxRetries: 0 });
    assert((await result.text).length > 0);
    assert((await result.usage).outputTokens! > 0);
  }
});

Deno.test("the gateway of these tests stops", async () => {
  await gateway.stop();
});
