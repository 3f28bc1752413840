import { assertEquals } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: { readonly path: string; readonly body: Json }[] = [];

/** OpenAI, Anthropic and Google, with Anthropic's rules for the places of system messages. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  const { pathname } = new URL(request.url);
  seen.push({ path: pathname, body });
  if (pathname.endsWith("/responses")) return Response.json(responseTo(body));
  if (pathname.includes("enerateContent")) return Response.json(CONTENT);
  const refusal = refusedPlace(body);
  if (refusal === null) return Response.json({ ...MESSAGE, model: body.model ?? "claude" });
  return Response.json({ type: "error", error: { type: "invalid_request_error", message: refusal } }, { status: 400 });
});

function refusedPlace({ messages, model }: Json): string | null {
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== "system") continue;
    if (!/opus-5|opus-4-8/.test(model)) return "role 'system' is not supported on this model";
    if (messages[index - 1]?.role !== "user") return "a system message must follow a user message";
    if (index < messages.length - 1 && messages[index + 1].role !== "assistant") {
      return "must come before the assistant";
    }
    if (Array.isArray(content) && content.some((block: Json) => block.cache_control !== undefined)) {
      return "cache_control is not supported here";
    }
  }
  return null;
}

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
};
const CONTENT = {
  candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
};

function responseTo({ model }: Json): Json {
  const text = { type: "output_text", text: "ok", annotations: [] };
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    status: "completed",
    model,
    output: [{ id: "msg_1", type: "message", status: "completed", role: "assistant", content: [text] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    error: null,
    incomplete_details: null,
  };
}

const root = `http://127.0.0.1:${vendor.addr.port}`;
const served = (provider: string, model: string) => ({
  ...textModel(`${provider}/${model}`, [provider]),
  pricing: PRICING,
  serves: [{ provider, model }],
});
const gateway = await startTestGateway({
  config: {
    providers: {
      openai: { kind: "openai", base_url: `${root}/v1`, api_key: "k", speaks: "responses", quirks: [] },
      anthropic: { kind: "anthropic", base_url: root, api_key: "k" },
      bedrock: { kind: "bedrock", base_url: root, api_key: "k", region: "us-east-1" },
      google: { kind: "google", base_url: root, api_key: "k" },
      storing: { kind: "google", base_url: root, api_key: "k", quirks: ["no_store_field"] },
      vertex: { kind: "vertex", base_url: root, api_key: "k", project: "acme-project", location: "us-east5" },
    },
    models: [
      ...["gpt-5.5", "gpt-5.6-terra", "gpt-6.2-sol", "gpt-7-nova"].map((model) => served("openai", model)),
      ...["claude-opus-5-5", "claude-opus-4-6"].map((model) => served("anthropic", model)),
      served("bedrock", "anthropic.claude-opus-5-5-v1:0"),
      served("google", "gemini-3.8-flash"),
      served("storing", "gemini-3.8-flash"),
      served("vertex", "google/gemini-3.8-flash"),
    ],
  },
});

interface Got {
  readonly status: number;
  readonly text: string;
  readonly dropped: string;
  readonly sent: Json;
}

async function post(path: string, body: Json): Promise<Got> {
  seen.length = 0;
  const response = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  const dropped = response.headers.get("x-service-dropped") ?? "";
  return { status: response.status, text: await response.text(), dropped, sent: seen.at(-1)?.body };
}

const say = (role: string, content: string) => ({ role, content });
const chat = (model: string, ...messages: Json[]) => post("/v1/chat/completions", { model, messages });

Deno.test("system text is the first developer message of the input from GPT-5.6 on, and instructions before", async () => {
  const messages = [say("system", "Be brief"), say("user", "hi")];
  const { sent: older } = await chat("openai/gpt-5.5", ...messages);
  assertEquals([older.instructions, older.input.length], ["Be brief", 1]);
  for (const model of ["gpt-5.6-terra", "gpt-6.2-sol", "gpt-7-nova"]) {
    const { sent, dropped } = await chat(`openai/${model}`, ...messages);
    const [first, second] = sent.input;
    assertEquals([sent.instructions, first.role, first.content, second.role, dropped], [
      undefined,
      "developer",
      [{ type: "input_text", text: "Be brief" }],
      "user",
      "",
    ]);
  }
  const own = await post("/v1/responses", { model: "openai/gpt-6.2-sol", instructions: "Be brief", input: "hi" });
  assertEquals([own.sent.instructions, own.sent.input], ["Be brief", "hi"]);
});

Deno.test("a system message in the middle keeps its role where the model takes it and its place is allowed", async () => {
  const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
  const places: readonly (readonly [Json[], readonly string[], string])[] = [
    [[say("user", "a"), say("system", "b")], ["user", "system"], ""],
    [[say("user", "a"), say("system", "b"), say("assistant", "c"), say("user", "d")], [
      "user",
      "system",
      "assistant",
      "user",
    ], ""],
    [[say("user", "a"), say("system", "b"), say("system", "c")], ["user", "system"], ""],
    [[say("user", "a"), say("system", "b"), say("user", "c")], ["user"], "messages"],
    [[say("user", "a"), say("assistant", "b"), say("system", "c")], ["user", "assistant", "user"], "messages"],
    [
      [
        say("user", "a"),
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "x" },
        say("system", "b"),
      ],
      ["user", "assistant", "user", "system"],
      "",
    ],
  ];
  for (const [messages, roles, dropped] of places) {
    const got = await chat("anthropic/claude-opus-5-5", ...messages);
    assertEquals([got.status, got.dropped, got.sent.messages.map(({ role }: Json) => role)], [200, dropped, roles]);
    for (const model of ["anthropic/claude-opus-4-6", "bedrock/anthropic.claude-opus-5-5-v1:0"]) {
      const other = await chat(model, ...messages);
      assertEquals([other.status, other.dropped], [200, "messages"], `${model}: ${other.text}`);
    }
  }
});

Deno.test("messages that pass through to Bedrock have no system message in the middle", async () => {
  const messages = [say("user", "a"), say("system", "b"), say("assistant", "c"), say("user", "d")];
  const { sent, dropped } = await post("/msgcompat/v1/messages", {
    model: "bedrock/anthropic.claude-opus-5-5-v1:0",
    max_tokens: 100,
    messages,
  });
  assertEquals([sent.messages[1].role, dropped], ["user", "messages"]);
});

Deno.test("Google gets store: false unless the caller or the provider's setting says otherwise", async () => {
  const contents = [{ role: "user", parts: [{ text: "hi" }] }];
  const generate = (model: string, fields: Json = {}) =>
    post(`/gencompat/v1beta/models/${model}:generateContent`, { contents, ...fields });
  assertEquals((await chat("google/gemini-3.8-flash", say("user", "hi"))).sent.store, false);
  assertEquals((await generate("google/gemini-3.8-flash")).sent.store, false);
  assertEquals((await generate("google/gemini-3.8-flash", { store: true })).sent.store, true);
  for (const model of ["storing/gemini-3.8-flash", "vertex/google/gemini-3.8-flash"]) {
    assertEquals((await chat(model, say("user", "hi"))).sent.store, undefined);
    assertEquals((await generate(model)).sent.store, undefined);
  }
});

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
