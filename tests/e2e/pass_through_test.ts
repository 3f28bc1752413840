import { assertEquals } from "@std/assert";
import { withoutCost } from "../texts/support.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { answer as httpAnswer, startScriptedUpstream } from "../support/scripted_upstream.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  MESSAGES,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

/** A reply of each format with unknown fields, unusual white space and numbers that a parser would change. */
const REPLIES: Readonly<Record<CallerProtocol["name"], string>> = {
  chat: `{ "id":"c1", "tomorrow" : [1.0, 1e400, 12345678901234567890],
    "choices":[{"index":0,"message":{"role":"assistant","content":"h\\u00e9","mood":"fine"},"finish_reason":"stop"}],
    "usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4} }`,
  responses: `{ "id":"resp_1","object":"response","status":"completed", "tomorrow" : {"a":1.0},
    "output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed",
      "content":[{"type":"output_text","text":"h\\u00e9","annotations":[]}]},{"type":"dream","id":"d_1"}],
    "usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,
      "output_tokens_details":{"reasoning_tokens":0},"total_tokens":4} }`,
  messages: `{ "id":"msg_1","type":"message","role":"assistant","model":"m", "tomorrow" : 1.0,
    "content":[{"type":"text","text":"h\\u00e9"},{"type":"dream","of":"sheep"}],"stop_reason":"end_turn",
    "stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1,"sheep_tokens":9} }`,
  content: `{ "candidates":[{"content":{"role":"model","parts":[{"text":"h\\u00e9"},{"dream":{}}]},
    "finishReason":"STOP","index":0}], "tomorrow" : 1.0,
    "usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4} }`,
};

/** The same as a stream, with comments and unknown fields. */
const STREAMS: Readonly<Record<CallerProtocol["name"], string>> = {
  chat: ': hello\n\ndata: {"id":"c1","choices":[{"index":0,"delta":{"content":"a","mood":"fine"},' +
    '"finish_reason":null}], "tomorrow":1.0}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
    'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\ndata: [DONE]\n\n',
  responses: 'event: response.created\ndata: {"type":"response.created","response":{"id":"r"}}\n\n' +
    'event: response.dream\ndata: {"type":"response.dream", "of":1.0}\n\n' +
    'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","object":"response",' +
    '"status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}}\n\n',
  messages: 'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message",' +
    '"role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":0}}}\n\n' +
    'event: dream\ndata: {"type":"dream", "of":1.0}\n\n' +
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},' +
    '"usage":{"output_tokens":1}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  content:
    'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}], "tomorrow":1.0}\r\n\r\n' +
    'data: {"candidates":[{"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,' +
    '"candidatesTokenCount":1,"totalTokenCount":4}}\r\n\r\n',
};

function formOf(path: string): CallerProtocol["name"] {
  if (path.includes("/chat/")) return "chat";
  if (path.includes("/responses")) return "responses";
  return path.includes("/messages") ? "messages" : "content";
}

const vendor = startScriptedUpstream(async (side) => {
  for (let request; (request = await side.request()) !== null;) {
    const form = formOf(request.path);
    const isStream = request.path.includes("stream") || /"stream"\s*:\s*true/.test(request.body);
    const type = isStream ? "text/event-stream" : "application/json";
    await side.say(httpAnswer(200, isStream ? STREAMS[form] : REPLIES[form], { "content-type": type }));
  }
});
const root = vendor.baseUrl.replace(/\/v1$/, "");

const gateway = await startTestGateway({
  config: {
    providers: {
      openai: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key-1", speaks: "both" },
      anthropic: { kind: "anthropic", base_url: root, api_key: "vendor-key-2" },
      google: { kind: "google", base_url: root, api_key: "vendor-key-3" },
    },
    models: [
      { ...textModel("sandbox/chat-1", []), serves: [{ provider: "openai", model: "vendor-model" }] },
      { ...textModel("sandbox/messages-1", []), serves: [{ provider: "anthropic", model: "vendor-model" }] },
      { ...textModel("sandbox/content-1", []), serves: [{ provider: "google", model: "vendor-model" }] },
    ],
  },
});

/**
 * A body with a gateway field, unknown fields, and spelling that a parser would change; and the body that is forwarded.
 */
function bodiesOf(face: CallerProtocol, stream: boolean): { given: string; sent: string } {
  const good = JSON.stringify(face.body("MODEL", "h\u00e9 \ud83d\ude00", stream)).slice(1, -1).replace(
    '"MODEL"',
    "MODEL",
  );
  const odd = `"tomorrow" : [ 1.0, 1e400, 12345678901234567890, "\\u00e9\\/" ],\n  "seed_of_tomorrow":{"b":1,"a":2}`;
  const options = face === CHAT && stream ? ', "stream_options":{"include_usage":true}' : "";
  const pin = face === CONTENT
    ? ""
    : `, "extra_body" : {"provider":{"type":"${face === MESSAGES ? "anthropic" : "openai"}"}}`;
  const text = (model: string, own: string) => `{ ${good.replace("MODEL", `"${model}"`)}, ${odd}${options}${own} }`;
  // Google stores requests by default.
  const added = face === CONTENT ? ',"store":false' : "";
  return { given: text(face.ownModel, pin), sent: text("vendor-model", added) };
}

const compact = (text: string) => text.replaceAll(/,?\s*\}$/g, "}");

for (const face of CALLER_PROTOCOLS) {
  for (const stream of [false, true]) {
    Deno.test(`${face.name} ${stream ? "streams" : "replies"} of a vendor of that format pass byte by byte, both ways`, async () => {
      const { given, sent } = bodiesOf(face, stream);
      const answer = await sendAs(face, gateway, { body: given, stream });
      assertEquals(withoutCost(answer.text), stream ? STREAMS[face.name] : REPLIES[face.name]);
      const request = vendor.seen.at(-1)!;
      assertEquals(compact(request.body), compact(sent));
      assertEquals(request.headers.get("content-type"), "application/json");
      assertEquals(answer.headers.get("x-service-dropped"), null);
    });
  }
}

Deno.test("beta flags of new features reach a vendor of the messages format", async () => {
  const headers = { "anthropic-beta": "interleaved-thinking-2025-05-14,tomorrow-2027-01-01" };
  await sendAs(MESSAGES, gateway, { headers });
  assertEquals(vendor.seen.at(-1)!.headers.get("anthropic-beta"), headers["anthropic-beta"]);
});

Deno.test("the caller's key and header fields reach no vendor", async () => {
  for (const face of CALLER_PROTOCOLS) {
    await sendAs(face, gateway, { headers: { cookie: "a=1", "x-forwarded-for": "10.0.0.1", "x-secret": "no" } });
    const { headers, path } = vendor.seen.at(-1)!;
    assertEquals([...headers].some(([, value]) => value.includes(gateway.key)) || path.includes(gateway.key), false);
    assertEquals([headers.get("cookie"), headers.get("x-forwarded-for"), headers.get("x-secret")], [null, null, null]);
  }
});

Deno.test("a field that a vendor of another format does not support is named in X-Service-Dropped, by the caller's own name", async () => {
  const dropped = async (face: CallerProtocol, model: string, extra: Record<string, unknown>) => {
    const answer = await sendAs(face, gateway, { model, extra });
    const names = (answer.headers.get("x-service-dropped") ?? "").split(", ");
    // The replies of this vendor have a part that no format has, and that is named, too.
    return [answer.status, ...names.filter((name) => !name.endsWith(".dream")).toSorted()];
  };
  assertEquals(await dropped(CHAT, "sandbox/messages-1", { seed: 7, frequency_penalty: 1, logit_bias: { "5": 1 } }), [
    200,
    "frequency_penalty",
    "logit_bias",
    "seed",
  ]);
  assertEquals(await dropped(MESSAGES, "sandbox/chat-1", { top_k: 5 }), [200, "top_k"]);
  assertEquals(await dropped(CONTENT, "sandbox/messages-1", { generationConfig: { seed: 3, presencePenalty: 1 } }), [
    200,
    "generationConfig.presencePenalty",
    "generationConfig.seed",
  ]);
  assertEquals(await dropped(RESPONSES, "sandbox/content-1", { truncation: "auto", top_logprobs: 2 }), [
    200,
    "truncation",
  ]);
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
