import Anthropic from "@anthropic-ai/sdk";
import { assertEquals, assertMatch } from "@std/assert";
import OpenAI from "openai";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { answer as httpAnswer, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { CONTENT, MESSAGES, sendAs } from "./caller_protocols.ts";

/** Headers that the scripted vendors send with every response, in any format. */
const FORWARDED = {
  "retry-after": "3",
  "x-ratelimit-remaining-requests": "59",
  "x-ratelimit-reset-tokens": "6m0s",
  "openai-processing-ms": "12",
  "anthropic-ratelimit-tokens-remaining": "40000",
  "anthropic-ratelimit-tokens-reset": "2026-11-21T00:00:00Z",
  "openai-organization": "org-of-the-operator",
  "anthropic-organization-id": "id-of-the-operator",
  "set-cookie": "__cf_bm=1",
  "cf-ray": "1-FRA",
  "server": "inner-host",
  "x-request-id": "req_vendor",
  "request-id": "req_vendor",
  "x-service-request-id": "req_vendor",
  "x-service-provider": "vendor",
  "ratelimit": '"a";r=1;t=2',
};

const WHOLE = {
  chat: '{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],' +
    '"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}',
  messages: '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"}],' +
    '"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}',
  content: '{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0}],' +
    '"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4}}',
};

const STREAMED = {
  chat: 'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n' +
    'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\ndata: [DONE]\n\n',
  messages: 'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message",' +
    '"role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":0}}}\n\n' +
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},' +
    '"usage":{"output_tokens":1}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  content: `data: ${WHOLE.content}\n\n`,
};

const vendor = startScriptedUpstream(async (side) => {
  for (let request; (request = await side.request()) !== null;) {
    const form = request.path.includes("/chat/")
      ? "chat"
      : request.path.includes("/messages")
      ? "messages"
      : "content" as const;
    const isStream = request.path.includes("stream") || request.body.includes('"stream":true');
    const type = { "content-type": isStream ? "text/event-stream" : "application/json" };
    await side.say(httpAnswer(200, isStream ? STREAMED[form] : WHOLE[form], { ...type, ...FORWARDED }));
  }
});
const root = vendor.baseUrl.replace(/\/v1$/, "");

const gateway = await startTestGateway({
  config: {
    providers: {
      openai: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key-1", speaks: "chat" },
      anthropic: { kind: "anthropic", base_url: root, api_key: "vendor-key-2" },
      google: { kind: "google", base_url: root, api_key: "vendor-key-3" },
    },
    models: [
      textModel("sandbox/chat-1", ["openai"]),
      textModel("sandbox/messages-1", ["anthropic"]),
      textModel("sandbox/content-1", ["google"]),
    ],
  },
});
const openai = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: `${gateway.address}/msgcompat`, apiKey: gateway.key, maxRetries: 0 });

/** Sends a request with an official client; returns the response headers after its body was read. */
async function chatHeaders(model: string, stream: boolean, headers: Record<string, string> = {}): Promise<Headers> {
  const messages = [{ role: "user" as const, content: "hello" }];
  const asked = openai.chat.completions.create({ model, messages, stream }, { headers });
  const { data, response } = await asked.withResponse();
  if (Symbol.asyncIterator in data) await Array.fromAsync(data);
  return response.headers;
}

async function messageHeaders(model: string, stream: boolean, betas: string[] = []): Promise<Headers> {
  const messages = [{ role: "user" as const, content: "hello" }];
  const asked = anthropic.beta.messages.create({ model, max_tokens: 100, messages, stream, betas });
  const { data, response } = await asked.withResponse();
  if (Symbol.asyncIterator in data) await Array.fromAsync(data);
  return response.headers;
}

/** The vendor's headers in a response. */
function toldIn(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(FORWARDED).filter(([name, value]) => headers.get(name) === value));
}

const WAIT = { "retry-after": "3" };
const CHAT_TIMING = { "openai-processing-ms": "12" };

for (const stream of [false, true]) {
  const kind = stream ? "stream" : "whole reply";

  Deno.test(`a ${kind} of a vendor of the caller's format has its timing and waits, and no header of the operator's`, async () => {
    assertEquals(toldIn(await chatHeaders("sandbox/chat-1", stream)), { ...WAIT, ...CHAT_TIMING });
    assertEquals(toldIn(await messageHeaders("sandbox/messages-1", stream)), WAIT);
    assertEquals(toldIn((await sendAs(CONTENT, gateway, { stream })).headers), WAIT);
  });

  Deno.test(`a ${kind} of a vendor of another format has only its waits`, async () => {
    assertEquals(toldIn(await chatHeaders("sandbox/messages-1", stream)), WAIT);
    assertEquals(toldIn(await messageHeaders("sandbox/chat-1", stream)), WAIT);
    assertEquals(toldIn((await sendAs(CONTENT, gateway, { model: "sandbox/chat-1", stream })).headers), WAIT);
  });

  Deno.test(`a ${kind} has the gateway's own headers, whatever the vendor sends under their names`, async () => {
    const headers = await chatHeaders("sandbox/chat-1", stream);
    const id = headers.get("x-service-request-id")!;
    assertMatch(id, /^req_[0-9a-f]{24}$/);
    assertEquals([headers.get("x-request-id"), headers.get("request-id")], [id, id]);
    assertEquals(headers.get("x-service-provider"), "openai");
    assertEquals(headers.get("content-type"), stream ? "text/event-stream" : "application/json");
  });
}

Deno.test("features that a client asks for reach a vendor of its format, and no other", async () => {
  const sentBy = async (asking: Promise<unknown>) => {
    await asking;
    const { headers } = vendor.seen.at(-1)!;
    return [headers.get("openai-beta"), headers.get("anthropic-beta"), headers.get("anthropic-version")];
  };
  const own = { "openai-beta": "responses=v1", "openai-organization": "org-of-the-caller" };
  const betas = ["context-1m-2025-08-07", "tomorrow-2027-01-01"];
  assertEquals(await sentBy(chatHeaders("sandbox/chat-1", false, own)), ["responses=v1", null, null]);
  assertEquals(vendor.seen.at(-1)!.headers.get("openai-organization"), null);
  assertEquals(await sentBy(chatHeaders("sandbox/messages-1", false, own)), [null, null, "2023-06-01"]);
  assertEquals(await sentBy(messageHeaders("sandbox/messages-1", false, betas)), [
    null,
    betas.join(","),
    "2026-10-21", // of the client, which passes through
  ]);
  assertEquals(await sentBy(messageHeaders("sandbox/chat-1", false, betas)), [null, null, null]);
  const foreign = { headers: { "openai-beta": "responses=v1" } };
  assertEquals(await sentBy(sendAs(MESSAGES, gateway, foreign)), [null, null, "2023-06-01"]);
});

Deno.test({
  name: "the gateway and the vendor of these tests stop",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await vendor.stop();
  },
});
