import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { assertErrorShape, CALLER_PROTOCOLS, CHAT, CONTENT, type Json, MESSAGES, sendAs } from "./caller_protocols.ts";

const gateway = await startTestGateway({
  config: {
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
      textModel("sandbox/content-1", ["sandbox-google"]),
      textModel("sandbox/any-1", ["sandbox-openai", "sandbox-anthropic", "sandbox-google"]),
      { ...textModel("sandbox/fails-1", ["sandbox-openai"]), fallbacks: ["sandbox/messages-1", "sandbox/content-1"] },
      {
        id: "sandbox/image-1",
        image: {},
        pricing: { per_image: "0.04" },
        serves: [{ provider: "sandbox-openai", model: "gpt-image-1.5" }],
      },
    ],
    limits: { large_body: 100_000 },
    aliases: { "fast": { model: "sandbox/chat-1", listed: true }, "forbidden": "sandbox/messages-1" },
  },
});

async function admin(method: string, path: string, body: unknown): Promise<Json> {
  const response = await fetch(`${gateway.address}/admin/v1/accounts${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert(response.ok, await response.clone().text());
  return await response.json();
}

/** A new key of the account `demo`, as a caller. */
async function callerWith(settings: Record<string, unknown>) {
  const { id, secret } = await admin("POST", "/demo/keys", settings);
  return { address: gateway.address, key: String(secret), path: `/demo/keys/${id}` };
}

const DENIED: Readonly<Record<string, string>> = {
  chat: "permission_error",
  responses: "permission_error",
  messages: "permission_error",
  content: "PERMISSION_DENIED",
};

for (const face of CALLER_PROTOCOLS) {
  Deno.test(`${face.name}: a model outside "models" is 403 with what the key may use, also through an alias`, async () => {
    const caller = await callerWith({ models: ["sandbox/content-1", "fast"] });
    for (const model of ["sandbox/messages-1", "messages-1", "forbidden"]) {
      const answer = await sendAs(face, caller, { model });
      assertEquals([answer.status, face.errorType(answer.json)], [403, DENIED[face.name]], answer.text);
      assertErrorShape(face, answer);
      const message = 'Cannot use the model "sandbox/messages-1": this key may use "sandbox/content-1", "fast"';
      assertEquals(answer.json.error.message, message);
    }
    // An alias in the list permits its model under every name.
    for (const model of ["fast", "sandbox/chat-1", "chat-1", "sandbox/content-1"]) {
      assertEquals((await sendAs(face, caller, { model })).status, 200, model);
    }
    assertEquals((await sendAs(face, caller, { model: "sandbox/none" })).status, 404);
  });

  Deno.test(`${face.name}: "providers" leaves out the others, and a pin to one of them is refused`, async () => {
    const caller = await callerWith({ providers: ["sandbox-google"] });
    for (let n = 0; n < 6; n++) {
      const { status, headers } = await sendAs(face, caller, { model: "sandbox/any-1" });
      assertEquals([status, headers.get("x-service-provider")], [200, "sandbox-google"]);
    }
    const none = await sendAs(face, caller, { model: "sandbox/chat-1" });
    assertEquals(none.status, 403);
    assertStringIncludes(none.json.error.message, "this key may use the providers sandbox-google");
    const pin = { headers: { "x-service-provider-type": "sandbox-openai" }, model: "sandbox/any-1" };
    assertEquals((await sendAs(face, caller, pin)).status, 400);
  });

  Deno.test(`${face.name}: "endpoints" and "ip_allow" are 403 in the format of the caller`, async () => {
    const elsewhere = await callerWith({ endpoints: ["videos"] });
    const refused = await sendAs(face, elsewhere);
    assertEquals([refused.status, face.errorType(refused.json)], [403, DENIED[face.name]]);
    assertStringIncludes(refused.json.error.message, "this key may call videos");
    const outside = await callerWith({ ip_allow: ["10.0.0.0/8", "2001:db8::/32"] });
    const unreachable = await sendAs(face, outside);
    assertEquals([unreachable.status, face.errorType(unreachable.json)], [403, DENIED[face.name]]);
    assertStringIncludes(unreachable.json.error.message, "may not be used from the address 127.0.0.1");
    const inside = await callerWith({ ip_allow: ["127.0.0.0/8"] });
    assertEquals((await sendAs(face, inside)).status, 200);
  });

  Deno.test(`${face.name}: an expired key, and a key of an expired account, is refused as such`, async () => {
    const caller = await callerWith({});
    assertEquals((await sendAs(face, caller)).status, 200);
    await admin("PATCH", caller.path, { expires_at: "2020-01-01" });
    const expired = await sendAs(face, caller);
    const unknown = await sendAs(face, { ...caller, key: "sk-no-such-key-anywhere-at-all" });
    assertEquals([expired.status, face.errorType(expired.json)], [401, face.errorType(unknown.json)]);
    assertEquals(expired.json.error.message, "Cannot accept the API key: it has expired");
    assertStringIncludes(unknown.json.error.message, "it is unknown");
    await admin("PATCH", caller.path, { expires_at: null });
    assertEquals((await sendAs(face, caller)).status, 200);
    const account = caller.path.slice(0, caller.path.indexOf("/keys/"));
    await admin("PATCH", account, { expires_at: "2020-01-01" });
    const ended = await sendAs(face, caller);
    assertEquals([ended.status, ended.json.error.message], [401, expired.json.error.message]);
    await admin("PATCH", account, { expires_at: null });
    assertEquals((await sendAs(face, caller)).status, 200);
  });
}

Deno.test("a fallback of the operator that the key may not use is left out", async () => {
  const caller = await callerWith({ models: ["sandbox/fails-1", "sandbox/content-1"] });
  const failing = { model: "sandbox/fails-1", text: "hello [[openai: fail 500]]" };
  const limited = await sendAs(CHAT, caller, failing);
  const whole = await sendAs(CHAT, gateway, failing);
  assertEquals([limited.headers.get("x-service-model"), whole.headers.get("x-service-model")], [
    "sandbox/content-1",
    "sandbox/messages-1",
  ]);
});

Deno.test("limits of the account hold for all of its keys, and change at once", async () => {
  await admin("POST", "", { id: "acme", balance: "5", models: ["sandbox/chat-1"] });
  const { secret } = await admin("POST", "/acme/keys", { models: ["sandbox/*"] });
  const caller = { address: gateway.address, key: String(secret) };
  assertEquals((await sendAs(CHAT, caller)).status, 200);
  const refused = await sendAs(MESSAGES, caller);
  assertEquals(refused.status, 403);
  assertStringIncludes(refused.json.error.message, 'this account may use "sandbox/chat-1"');
  await admin("PATCH", "/acme", { models: null });
  assertEquals((await sendAs(MESSAGES, caller)).status, 200);
  await admin("PATCH", "/acme", { providers: ["sandbox-google"] });
  assertEquals((await sendAs(MESSAGES, caller)).status, 403);
});

Deno.test("counts of tokens, cached contents and pictures keep the same limits", async () => {
  const caller = await callerWith({ models: ["sandbox/chat-1"] });
  const count = { path: "/msgcompat/v1/messages/count_tokens" };
  assertEquals((await sendAs(MESSAGES, caller, { ...count, model: "sandbox/messages-1" })).status, 403);
  assertEquals((await sendAs(MESSAGES, caller, { ...count, model: "sandbox/chat-1" })).status, 200);
  const contentCount = (model: string) => ({ path: `/gencompat/v1beta/models/${model}:countTokens` });
  assertEquals((await sendAs(CONTENT, caller, contentCount("sandbox/content-1"))).status, 403);
  const cache = {
    path: "/gencompat/v1beta/cachedContents",
    body: { ...CONTENT.body("", "a"), model: "sandbox/content-1" },
  };
  assertEquals((await sendAs(CONTENT, caller, cache)).status, 403);
  const picture = {
    path: "/v1/images/generations",
    body: { model: "sandbox/image-1", prompt: "a cat", quality: "low" },
  };
  const refused = await sendAs(CHAT, caller, picture);
  assertEquals(refused.status, 403, refused.text);
  assertEquals((await sendAs(CHAT, gateway, picture)).status, 200);
  const edit = new FormData();
  edit.set("model", "sandbox/image-1");
  edit.set("prompt", "a dog");
  edit.set("image", new File([new Uint8Array(8)], "a.png", { type: "image/png" }));
  const headers = { authorization: `Bearer ${caller.key}` };
  const edited = await fetch(`${gateway.address}/v1/images/edits`, { method: "POST", headers, body: edit });
  assertEquals([edited.status, (await edited.json()).error.message.includes("sandbox/image-1")], [403, true]);
});

Deno.test("a large body does not get around the limits", async () => {
  const caller = await callerWith({ models: ["sandbox/chat-1"], endpoints: ["messages"] });
  const text = "word ".repeat(40_000);
  assertEquals((await sendAs(MESSAGES, caller, { text })).status, 403);
  assertEquals((await sendAs(CHAT, caller, { text })).status, 403);
  const free = await callerWith({ providers: ["sandbox-google"] });
  assertEquals((await sendAs(MESSAGES, free, { text })).status, 403);
});

Deno.test("official clients list the models that their key may use, and all of them without limits", async () => {
  const { address, key } = await callerWith({ models: ["sandbox/c*-1"], providers: ["sandbox-openai"] });
  const clientsOf = (apiKey: string) => ({
    openai: new OpenAI({ baseURL: `${address}/v1`, apiKey, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: `${address}/msgcompat`, apiKey, maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${address}/gencompat` } }),
  });
  const { openai, anthropic, google } = clientsOf(key);
  const idsOf = async <T>(list: AsyncIterable<T>, idOf: (model: T) => string | undefined) => {
    const ids = [];
    for await (const model of list) ids.push(idOf(model));
    return ids;
  };
  assertEquals(await idsOf(await openai.models.list(), ({ id }) => id), ["sandbox/chat-1", "fast"]);
  assertEquals(await idsOf(anthropic.models.list(), ({ id }) => id), ["sandbox/chat-1", "fast"]);
  assertEquals(await idsOf(await google.models.list(), ({ name }) => name), ["models/sandbox/chat-1", "models/fast"]);
  const forbidden = await assertRejects(
    () => openai.models.retrieve("sandbox/messages-1"),
    OpenAI.PermissionDeniedError,
  );
  assertStringIncludes(forbidden.message, 'this key may use "sandbox/c*-1"');
  assertEquals((await clientsOf(gateway.key).openai.models.list()).data.length, 7);
  const unknown = await fetch(`${address}/v1/models`, { headers: { authorization: "Bearer sk-unknown-key-0000000" } });
  assertEquals([unknown.status, (await unknown.json()).data.length], [200, 7]);
  const own = await fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  assertEquals(own.headers.get("cache-control"), "private, no-cache");
  await own.body?.cancel();
});

Deno.test("GET /v1/key and /v1/credits show the caller's limits, what is left, and its money", async () => {
  await admin("POST", "", {
    id: "shown",
    name: "Shown Ltd",
    balance: "5",
    overdraft: "2",
    concurrency: 8,
    expires_at: 4_000_000_100,
    metadata: { customer: "private" },
  });
  const { id, secret } = await admin("POST", "/shown/keys", {
    name: "ci",
    expires_at: 4_000_000_000,
    endpoints: ["chat_completions"],
    rpm: 60,
    budget: { amount: "1", per: "total" },
    metadata: { team: "private" },
  });
  const headers = { authorization: `Bearer ${secret}` };
  const read = async (path: string) => await (await fetch(gateway.address + path, { headers })).json();
  await sendAs(CHAT, { address: gateway.address, key: String(secret) });
  const key = await read("/v1/key");
  assertEquals([key.id, key.name, key.expires_at, key.limits.rpm], [id, "ci", 4_000_000_000, 60]);
  assertEquals([key.account.expires_at, JSON.stringify(key).includes("private")], [4_000_000_100, false]);
  assertEquals([key.account.id, key.account.name, key.account.left], ["shown", "Shown Ltd", {
    concurrency: { left: 8 },
  }]);
  assertEquals([key.left.rpm.left, key.left.budget.resets_at], [59, null]);
  const { balance, ...credits } = await read("/v1/credits");
  assertEquals(credits, {
    object: "credits",
    account: "shown",
    held: "0.0000000000",
    reserved: "0.0000000000",
    overdraft: "2.0000000000",
    unlimited: false,
  });
  assertEquals(readMoney("1") - readMoney(key.left.budget.left), readMoney("5") - readMoney(balance));
  assertEquals(JSON.stringify(key).includes("private"), false);
  assertEquals((await fetch(`${gateway.address}/v1/key`)).status, 401);
  const plain = await (await fetch(`${gateway.address}/v1/key`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  })).json();
  assertEquals([plain.left, plain.account.left, plain.limits.models], [{}, {}, null]);
});

Deno.test("the gateway of these tests stops", async () => {
  await gateway.stop();
});
