import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import OpenAI from "openai";
import { startTestGateway } from "../support/gateway.ts";
import { rawAnswer } from "../support/raw_http.ts";

const gateway = await startTestGateway();
const { address, key } = gateway;
const authorization = `Bearer ${key}`;
const MODEL = "sandbox/any-1";

/** Base addresses that users configure in the official clients, in addition to the documented one. */
const OPENAI_BASES = ["", "/", "/v1", "/v1/", "/v1/v1", "/openai", "/openai/v1", "/api/v1", "/v1beta/openai"];
const ANTHROPIC_BASES = ["", "/v1", "/msgcompat", "/msgcompat/", "/msgcompat/v1", "/msgcompat/v1/v1", "/anthropic"];
const GOOGLE_BASES = ["", "/gencompat", "/gencompat/", "/gencompat/v1beta", "/gencompat/v1", "/gemini"];

for (const base of OPENAI_BASES) {
  Deno.test(`the openai client chats and lists models at the base address "${base}"`, async () => {
    const client = new OpenAI({ baseURL: address + base, apiKey: key, maxRetries: 0 });
    const chat = await client.chat.completions.create({ model: MODEL, messages: [{ role: "user", content: "hi" }] });
    assert(chat.choices[0]?.message.content);
    const reply = await client.responses.create({ model: MODEL, input: "hi" });
    assert(reply.output_text);
    let streamed = "";
    for await (const event of await client.responses.create({ model: MODEL, input: "hi", stream: true })) {
      if (event.type === "response.output_text.delta") streamed += event.delta;
    }
    assert(streamed);
    const ids = (await Array.fromAsync(client.models.list())).map((model) => [model.id, model.object]);
    assert(ids.some(([id, object]) => id === MODEL && object === "model"));
  });
}

for (const base of ANTHROPIC_BASES) {
  Deno.test(`the anthropic client chats, counts and lists models at the base address "${base}"`, async () => {
    const client = new Anthropic({ baseURL: address + base, apiKey: key, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "hi" }];
    const reply = await client.messages.create({ model: MODEL, max_tokens: 100, messages });
    assertEquals(reply.content[0]?.type, "text");
    const streamed = await client.messages.stream({ model: MODEL, max_tokens: 100, messages }).finalMessage();
    assertEquals(streamed.type, "message");
    assert((await client.messages.countTokens({ model: MODEL, messages })).input_tokens > 0);
    const models = await Array.fromAsync(client.models.list({ limit: 2 }));
    assert(models.some(({ id, type }) => id === MODEL && type === "model"));
    assertEquals((await client.models.retrieve(MODEL)).type, "model");
  });
}

for (const base of GOOGLE_BASES) {
  for (const apiVersion of [undefined, "v1", "v1beta", "v1alpha"]) {
    Deno.test(`the google client chats and lists models at "${base}", version ${apiVersion ?? "its own"}`, async () => {
      const client = new GoogleGenAI({
        apiKey: key,
        httpOptions: { baseUrl: address + base },
        ...(apiVersion && { apiVersion }),
      });
      const asking = { model: MODEL, contents: "hi" };
      assert((await client.models.generateContent(asking)).text);
      let streamed = "";
      for await (const chunk of await client.models.generateContentStream(asking)) streamed += chunk.text ?? "";
      assert(streamed);
      assert((await client.models.countTokens(asking)).totalTokens! > 0);
      const names = (await Array.fromAsync(await client.models.list())).map(({ name }) => name);
      assert(names.includes(`models/${MODEL}`));
      assertEquals((await client.models.get({ model: MODEL })).name, `models/${MODEL}`);
    });
  }
}

const CHAT = { model: MODEL, messages: [{ role: "user", content: "hi" }] };
const MESSAGES = { ...CHAT, max_tokens: 50 };
const CONTENT = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };

/** Paths that answer, and the member that identifies the protocol of the response. */
const ANSWERED: readonly [path: string, body: Record<string, unknown>, member: string][] = [
  ["/chat/completions", CHAT, "choices"],
  ["/v1/v1/chat/completions", CHAT, "choices"],
  ["/v1//chat/completions", CHAT, "choices"],
  ["//v1/chat/completions", CHAT, "choices"],
  ["/openai/v1/chat/completions", CHAT, "choices"],
  ["/responses", { model: MODEL, input: "hi" }, "output"],
  ["/messages", MESSAGES, "stop_reason"],
  ["/v1/messages", MESSAGES, "stop_reason"],
  ["/v1/messages/count_tokens", CHAT, "input_tokens"],
  ["/api/v1/messages", MESSAGES, "stop_reason"],
  ["/msgcompat/messages", MESSAGES, "stop_reason"],
  ["/msgcompat/v1/v1/messages?beta=true", MESSAGES, "stop_reason"],
  ["/anthropic/v1/messages", MESSAGES, "stop_reason"],
  [`/gencompat/models/${MODEL}:generateContent`, CONTENT, "candidates"],
  [`/gencompat/v1/v1beta/models/${MODEL}:generateContent`, CONTENT, "candidates"],
  [`/gencompat/v1alpha/models/${MODEL}:generateContent`, CONTENT, "candidates"],
  [`/gemini/v1beta/models/${MODEL}:countTokens`, CONTENT, "totalTokens"],
  [`/v1beta/models/${MODEL}:generateContent`, CONTENT, "candidates"],
  [`/v1/models/${MODEL}:generateContent`, CONTENT, "candidates"],
  [`/models/${MODEL}:generateContent`, CONTENT, "candidates"],
];

for (const [path, body, member] of ANSWERED) {
  Deno.test(`POST ${path} answers, and requires a key`, async () => {
    const headers = { authorization, "anthropic-version": "2023-06-01", "content-type": "application/json" };
    const answered = await fetch(address + path, { method: "POST", headers, body: JSON.stringify(body) });
    const answer = await answered.json();
    assertEquals([answered.status, member in answer], [200, true], JSON.stringify(answer));
    const keyless = await fetch(address + path, { method: "POST", body: JSON.stringify(body) });
    assertEquals(keyless.status, 401);
    await keyless.body?.cancel();
    const wrongMethod = await fetch(address + path, { method: "DELETE", headers });
    assertEquals([wrongMethod.status, wrongMethod.headers.has("allow")], [405, true]);
    await wrongMethod.body?.cancel();
  });
}

Deno.test("GET /v1/models and /models answer in the caller's protocol, recognised by its headers", async () => {
  for (const path of ["/v1/models", "/models"]) {
    const keysFor = async (headers: Record<string, string>) =>
      Object.keys(await (await fetch(address + path, { headers })).json());
    assertEquals(await keysFor({}), ["object", "data"]);
    assertEquals(await keysFor({ authorization }), ["object", "data"]);
    assertEquals(await keysFor({ "anthropic-version": "2023-06-01" }), ["data", "has_more", "first_id", "last_id"]);
    assertEquals(await keysFor({ "x-goog-api-key": key }), ["models"]);
  }
});

Deno.test("a large request to a guessed address is answered, too", async () => {
  const headers = { authorization, "anthropic-version": "2023-06-01", "content-type": "application/json" };
  const body = { ...MESSAGES, messages: [{ role: "user", content: `What is this? ${" ".repeat(3_000_000)}` }] };
  const answered = await fetch(`${address}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body) });
  assertEquals([answered.status, (await answered.json()).type], [200, "message"]);
});

Deno.test("the log has a guessed path as it was sent, and the protocol that answered it", async () => {
  const headers = { authorization, "anthropic-version": "2023-06-01", "content-type": "application/json" };
  await (await fetch(`${address}/v1/messages`, { method: "POST", headers, body: JSON.stringify(MESSAGES) })).json();
  const line = gateway.logLines.map((line) => JSON.parse(line)).findLast(({ event }) => event === "request");
  assertEquals([line.path, line.protocol], ["/v1/messages", "message"]);
});

/** Sends a GET; returns status and error body. */
async function missOf(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(address + path, { method: "POST", headers, body: "{}" });
  return { status: answer.status, body: await answer.json() };
}

Deno.test("a 404 has the caller's protocol and names the path and the correct base address", async () => {
  for (
    const path of ["/v1/engines", "/v1/completions", "/completions", "/v1", "/v1/chat/completions/chat/completions"]
  ) {
    const { status, body } = await missOf(path);
    assertEquals([status, body.error.type, body.error.code], [404, "not_found_error", "not_found"]);
    assertStringIncludes(body.error.message, `"${path}"`);
    assertStringIncludes(body.error.message, `${address}/v1 `);
  }
  const anthropic = { "anthropic-version": "2023-06-01" };
  for (
    const [path, headers] of [["/msgcompat/v1/complete", {}], ["/v1/messages/other", {}], [
      "/v1/complete",
      anthropic,
    ]] as const
  ) {
    const { status, body } = await missOf(path, headers);
    assertEquals([status, body.type, body.error.type], [404, "error", "not_found_error"]);
    assertStringIncludes(body.error.message, `"${path}"`);
    assertStringIncludes(body.error.message, `${address}/msgcompat `);
  }
  for (
    const [path, headers] of [
      ["/gencompat/v1beta/tunedModels", {}],
      ["/v1beta/models/m:predict", {}],
      ["/v2/models/m", { "x-goog-api-key": key }],
    ] as const
  ) {
    const { status, body } = await missOf(path, headers as Record<string, string>);
    assertEquals([status, body.error.code, body.error.status], [404, 404, "NOT_FOUND"]);
    assertStringIncludes(body.error.message, `"${path}"`);
    assertStringIncludes(body.error.message, `${address}/gencompat `);
  }
});

Deno.test("no spelling of a path reaches the admin API or the route of another path", async () => {
  const paths = [
    "//admin/v1/accounts",
    "/v1/../admin/v1/accounts",
    "/v1//admin/v1/accounts",
    "/v1/v1/../../admin/v1/accounts",
    "/openai/../admin/v1/accounts",
    "/api/admin/v1/accounts",
    "/api/v1/admin/v1/accounts",
    "/chat/completions/../../admin/v1/accounts",
    "/v1beta/../admin/v1/accounts",
    "/%61dmin/v1/accounts",
    "/Admin/v1/accounts",
    "/ADMIN/v1/accounts",
    "/admin//v1/accounts",
    "/admin/v1/v1/accounts",
    "/msgcompat/../admin/v1/accounts",
    "/gencompat/v1beta/%2e%2e/%2e%2e/admin/v1/accounts",
    "/V1/chat/completions",
    "/v1%2Fchat%2Fcompletions",
    "/%76%31/chat/completions",
    "/chat%2Fcompletions",
    "/Chat/Completions",
    "\\chat\\completions",
  ];
  for (const path of paths) {
    const raw = `GET ${path} HTTP/1.1\r\nhost: gate.example\r\nauthorization: Bearer ${gateway.adminKey}\r\n\r\n`;
    const { status } = await rawAnswer(Number(new URL(address).port), raw);
    assert(status === 400 || status === 404, `${path}: ${status}`);
  }
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});
