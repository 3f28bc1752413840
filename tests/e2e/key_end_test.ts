import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText } from "ai";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { eventually } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { answer, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";

/** The vendor ends its streams when it is let go. */
let letGo = Promise.withResolvers<void>();

function event(delta: unknown, more: Record<string, unknown> = {}): string {
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [delta], ...more };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

const vendor = startScriptedUpstream(async (side) => {
  for (let request = await side.request(); request !== null; request = await side.request()) {
    if (!request.body.includes('"stream":true')) {
      const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      await side.say(answer(200, JSON.stringify({ id: "c", object: "chat.completion", created: 1, choices, usage })));
      continue;
    }
    await side.say(STREAM_HEAD + event({ index: 0, delta: { role: "assistant", content: "begun" } }));
    await letGo.promise;
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    await side.say(event({ index: 0, delta: {}, finish_reason: "stop" }, { usage }) + "data: [DONE]\n\n");
    return;
  }
});

const gateway = await startTestGateway({
  config: {
    providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
    models: [textModel("acme/m", ["acme"])],
  },
});
const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });

async function newKey(fields: Record<string, unknown>): Promise<{ readonly id: string; readonly secret: string }> {
  const created = await admin("POST", "/admin/v1/accounts/demo/keys", fields);
  assertEquals(created.status, 201, created.text);
  return created.json;
}

function chat(secret: string, stream = false, signal: AbortSignal | null = null): Promise<Response> {
  const messages = [{ role: "user", content: "hello" }];
  return fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    signal,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/m", max_tokens: 5, messages, stream }),
  });
}

async function statusOf(secret: string): Promise<number> {
  const response = await chat(secret);
  await response.body?.cancel();
  return response.status;
}

async function balance(): Promise<number> {
  return Number((await admin("GET", "/admin/v1/accounts/demo")).json.balance);
}

for (
  const [how, fields, end] of [
    ["is revoked", () => ({}), (id: string) => admin("DELETE", `/admin/v1/accounts/demo/keys/${id}`)],
    ["expires", () => ({ expires_at: Math.ceil(Date.now() / 1_000) + 1 }), () => Promise.resolve()],
  ] as const
) {
  Deno.test(`a stream goes on when its key ${how}, is charged, and the next request is refused`, async () => {
    letGo = Promise.withResolvers();
    const { id, secret } = await newKey(fields());
    const before = await balance();
    const open = await chat(secret, true);
    assertEquals(open.status, 200);
    await end(id);
    await eventually(async () => await statusOf(secret) === 401);
    const spentMeanwhile = before - await balance();
    letGo.resolve();
    const text = await open.text();
    assert(text.endsWith("data: [DONE]\n\n"), text);
    await eventually(async () => Math.round((before - await balance() - spentMeanwhile) * 1e6) === 20);
  });
}

Deno.test("a stream takes a place of its key until it ends or its caller leaves", async () => {
  const { secret } = await newKey({ concurrency: 1 });
  letGo = Promise.withResolvers();
  const left = new AbortController();
  const open = await chat(secret, true, left.signal);
  const text = assertRejects(() => open.text());
  assertEquals(await statusOf(secret), 429);
  left.abort();
  await text;
  await eventually(async () => await statusOf(secret) === 200);
  const second = await chat(secret, true);
  letGo.resolve();
  await second.text();
  await eventually(async () => await statusOf(secret) === 200);
});

Deno.test("the ai package sees typed errors above a limit and a budget, with the time to wait", async () => {
  const ask = async (fields: Record<string, unknown>) => {
    const { secret } = await newKey(fields);
    const openai = createOpenAI({ baseURL: `${gateway.address}/v1`, apiKey: secret });
    return () => generateText({ model: openai.chat("acme/m"), prompt: "hello", maxOutputTokens: 5, maxRetries: 0 });
  };
  const rated = await ask({ rpm: 1 });
  await rated();
  const limited = await assertRejects(rated, APICallError);
  assertEquals([limited.statusCode, limited.isRetryable], [429, true]);
  assert(Number(limited.responseHeaders?.["retry-after"]) > 0);
  assertEquals(limited.responseHeaders?.["x-ratelimit-remaining-requests"], "0");
  const poor = await ask({ budget: { amount: "0.000001", per: "month" } });
  const refused = await assertRejects(poor, APICallError);
  assertEquals([refused.statusCode, refused.isRetryable], [402, false]);
  assertStringIncludes(refused.message, "the budget of the key");
});

Deno.test("the gateway and the vendor of these tests end", async () => {
  await gateway.stop();
  letGo.resolve();
  await vendor.stop();
});
