import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import { assert, assertEquals, assertRejects } from "@std/assert";
import OpenAI from "openai";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { until } from "../support/manual_clock.ts";
import { answer as httpAnswer, startScriptedUpstream } from "../support/scripted_upstream.ts";

/** What the vendor waits for before it answers a prompt that says `wait`. */
let gate = Promise.withResolvers<void>();

const REPLY =
  '{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],' +
  '"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}';

const slow = startScriptedUpstream(async (side) => {
  while (await side.request() !== null) {
    await gate.promise;
    await side.say(httpAnswer(200, REPLY));
  }
});

/** A key of the configuration, with its limits. */
function limitedKey(limits: Record<string, unknown>): { key: string } & Record<string, unknown> {
  return { key: newApiKey(), ...limits };
}

const KEYS = {
  twice: limitedKey({ rpm: 2, tpm: 1_000_000 }),
  messages: limitedKey({ rpm: 1 }),
  content: limitedKey({ rpm: 1 }),
  poor: limitedKey({ budget: { amount: "0.000001", per: "month" } }),
  three: limitedKey({ budget: { amount: "0.0062", per: "day" } }),
  one: limitedKey({ concurrency: 1 }),
  large: limitedKey({ rpm: 2 }),
  counts: limitedKey({ rpm: 1 }),
  unlimited: limitedKey({}),
};

const gateway = await startTestGateway({
  config: {
    accounts: [{ id: "demo", balance: "25.00", keys: Object.values(KEYS) }],
    limits: { large_body: 4_000 },
  },
});

const other = await startTestGateway({
  config: {
    accounts: [{ id: "demo", balance: "25.00", keys: Object.values(KEYS) }],
    providers: { slow: { kind: "openai", base_url: slow.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
    models: [textModel("sandbox/slow-1", ["slow"])],
  },
});

function openai({ key }: { readonly key: string }, of = gateway): OpenAI {
  return new OpenAI({ baseURL: `${of.address}/v1`, apiKey: key, maxRetries: 0 });
}

function anthropic({ key }: { readonly key: string }): Anthropic {
  return new Anthropic({ baseURL: `${gateway.address}/msgcompat`, apiKey: key, maxRetries: 0 });
}

function genai({ key }: { readonly key: string }): GoogleGenAI {
  return new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${gateway.address}/gencompat` } });
}

const CHAT = { model: "sandbox/chat-1", max_tokens: 100, messages: [{ role: "user" as const, content: "hello" }] };
const MESSAGE = { ...CHAT, model: "sandbox/messages-1" };
const CONTENT = { model: "sandbox/content-1", contents: "hello", config: { maxOutputTokens: 100 } };

/** The rate limit fields of a response, by the end of their name. */
function rateFields(headers: Headers, prefix: string): Record<string, string> {
  return Object.fromEntries(
    [...headers].flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : []
    ),
  );
}

Deno.test("OpenAI's client sees what a key has left, in replies, streams and errors, and an error above the limit", async () => {
  const client = openai(KEYS.twice);
  const whole = await client.chat.completions.create(CHAT).withResponse();
  const { "reset-requests": reset, "reset-tokens": _, "remaining-tokens": tokensLeft, ...fields } = rateFields(
    whole.response.headers,
    "x-ratelimit-",
  );
  assertEquals(fields, { "limit-requests": "2", "remaining-requests": "1", "limit-tokens": "1000000" });
  assert(/^\d+(?:\.\d+)?s$/.test(String(reset)), reset);
  assert(Number(tokensLeft) > 999_000, tokensLeft);

  const streamed = await client.chat.completions.create({ ...CHAT, stream: true }).withResponse();
  assertEquals(streamed.response.headers.get("x-ratelimit-remaining-requests"), "0");
  await Array.fromAsync(streamed.data);

  const error = await assertRejects(() => client.chat.completions.create(CHAT), OpenAI.RateLimitError);
  assertEquals([error.code, error.type], ["rate_limited", "rate_limit_error"]);
  assert(
    /Rate limit exceeded: the key allows 2 requests a minute; retry after \d+ s/.test(error.message),
    error.message,
  );
  assert(Number(error.headers.get("retry-after")) >= 1);
  assertEquals(error.headers.get("x-ratelimit-limit-requests"), "2");

  const unknown = await fetch(`${gateway.address}/v1/models/none`, {
    headers: { authorization: `Bearer ${KEYS.unlimited.key}` },
  });
  await unknown.body?.cancel();
  assertEquals(rateFields(unknown.headers, "x-ratelimit-"), {});
});

Deno.test("Anthropic's client sees an instant of the reset, and a rate_limit_error above the limit", async () => {
  const client = anthropic(KEYS.messages);
  const { response } = await client.messages.create(MESSAGE).withResponse();
  const { reset, ...fields } = rateFields(response.headers, "anthropic-ratelimit-requests-");
  assertEquals(fields, { limit: "1", remaining: "0" });
  assert(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(reset)), reset);
  const error = await assertRejects(() => client.messages.create(MESSAGE), Anthropic.RateLimitError);
  assertEquals(error.type, "rate_limit_error");
  assert(error.headers.has("retry-after") && error.headers.has("anthropic-ratelimit-requests-limit"));
});

Deno.test("Google's client sees QuotaFailure and RetryInfo above the limit", async () => {
  const { models } = genai(KEYS.content);
  await models.generateContent(CONTENT);
  const error = await assertRejects(() => models.generateContent(CONTENT), ApiError);
  assertEquals(error.status, 429);
  const { error: { status, details } } = JSON.parse(error.message);
  assertEquals(status, "RESOURCE_EXHAUSTED");
  const [quota, retry] = details;
  assertEquals(quota["@type"], "type.googleapis.com/google.rpc.QuotaFailure");
  const { subject, quotaId, quotaValue } = itemAt<Record<string, unknown>>(quota.violations, 0);
  assertEquals([subject, quotaId, quotaValue], ["key", "rpm", "1"]);
  assertEquals(retry["@type"], "type.googleapis.com/google.rpc.RetryInfo");
  assert(/^\d+s$/.test(retry.retryDelay));
});

Deno.test("a request above a budget is a 402 in every protocol, with the budget and its reset", async () => {
  const until = new Date();
  const reset = new Date(Date.UTC(until.getUTCFullYear(), until.getUTCMonth() + 1)).toISOString().slice(0, 10);
  const chat = await assertRejects(() => openai(KEYS.poor).chat.completions.create(CHAT), OpenAI.APIError);
  assertEquals([chat.status, chat.code], [402, "insufficient_credits"]);
  const named =
    `the budget of the key, 0.0000010000 USD a month, has 0.0000010000 USD left; it resets at ${reset}T00:00:00Z`;
  assert(chat.message.includes(named), chat.message);
  const message = await assertRejects(() => anthropic(KEYS.poor).messages.create(MESSAGE), Anthropic.APIError);
  assertEquals([message.status, message.type], [402, "billing_error"]);
  const content = await assertRejects(() => genai(KEYS.poor).models.generateContent(CONTENT), ApiError);
  assertEquals([content.status, JSON.parse(content.message).error.status], [402, "FAILED_PRECONDITION"]);
});

Deno.test("of 200 parallel requests on a budget for 3, exactly 3 reach the vendor", async () => {
  gate = Promise.withResolvers();
  const client = openai(KEYS.three, other);
  const body = { ...CHAT, model: "sandbox/slow-1", max_tokens: 1_000 }; // a little more than 0.002 USD
  let refused = 0;
  const results = Array.from({ length: 200 }, () =>
    client.chat.completions.create(body).then(() => true, (error) => {
      assertEquals(error.status, 402);
      refused++;
      return false;
    }));
  await until(() => refused === 197);
  gate.resolve();
  assertEquals((await Promise.all(results)).filter(Boolean).length, 3);
  await client.chat.completions.create(body);
});

Deno.test("a caller that disconnects frees its concurrency", async () => {
  gate = Promise.withResolvers();
  const client = openai(KEYS.one, other);
  const body = { ...CHAT, model: "sandbox/slow-1" };
  const left = new AbortController();
  const open = client.chat.completions.create(body, { signal: left.signal });
  const seen = slow.seen.length;
  await until(() => slow.seen.length > seen);
  const refused = await assertRejects(() => client.chat.completions.create(body), OpenAI.RateLimitError);
  assert(refused.message.includes("the key allows 1 open requests; retry after 1 s"), refused.message);
  left.abort();
  await assertRejects(() => open);
  gate.resolve();
  let isAdmitted = false;
  while (!isAdmitted) isAdmitted = await client.chat.completions.create(body).then(() => true, () => false);
});

Deno.test("a large request counts towards the same limits, and shows them", async () => {
  const body = { ...CHAT, messages: [{ role: "user" as const, content: "long ".repeat(1_000) }] };
  const client = openai(KEYS.large);
  const { response } = await client.chat.completions.create(body).withResponse();
  assertEquals(response.headers.get("x-ratelimit-remaining-requests"), "1");
  await client.chat.completions.create(CHAT);
  const error = await assertRejects(() => client.chat.completions.create(body), OpenAI.RateLimitError);
  assert(error.headers.has("retry-after"));
});

Deno.test("a token count counts as a request, and a list of models does not", async () => {
  const client = anthropic(KEYS.counts);
  const { model, messages } = MESSAGE;
  await client.models.list();
  await client.messages.countTokens({ model, messages });
  await client.models.list();
  await assertRejects(() => client.messages.countTokens({ model, messages }), Anthropic.RateLimitError);
});

Deno.test("limits: close gateway", async () => {
  await gateway.stop();
  await other.stop();
  await slow.stop();
});
