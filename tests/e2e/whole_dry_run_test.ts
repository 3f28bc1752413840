import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { toneFile } from "../../src/sandbox/tones.ts";
import { embeddingModel, startEmbeddingGateway } from "../embeddings/embedding_gateway.ts";
import { textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";

const KEY = newApiKey();
const ONCE = newApiKey();
const POOR = newApiKey();

const models = [
  {
    ...embeddingModel("sandbox/embedding-1", ["sandbox-openai"]),
    fallbacks: ["sandbox/embedding-2"],
  },
  embeddingModel("sandbox/embedding-2", ["sandbox-google"]),
  {
    id: "sandbox/moderation-1",
    pricing: { request: "0.002" },
    moderation: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  { id: "sandbox/rerank-1", pricing: { search_unit: "0.001" }, rerank: {}, serves: [{ provider: "sandbox-openai" }] },
  { id: "sandbox/speech-1", pricing: { character: "0.00001" }, speech: {}, serves: [{ provider: "sandbox-openai" }] },
  {
    id: "sandbox/transcription-1",
    pricing: { audio_second: "0.0001" },
    transcription: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  { ...textModel("sandbox/content-1", ["sandbox-google"]), context_length: 100_000 },
  { ...textModel("sandbox/chat-1", ["sandbox-openai"]), context_length: 100_000 },
];
const accounts = [
  { id: "demo", balance: "25.00", keys: [KEY, { key: ONCE, rpm: 1 }] },
  { id: "poor", balance: "0.00001", keys: [POOR] },
];
const gateway = await startEmbeddingGateway({ config: { models, accounts } });

interface Kind {
  readonly mode: string;
  readonly path: string;
  readonly model: string;
  readonly fallbacks?: readonly unknown[];
  /** Without the cost. */
  readonly estimate: readonly string[];
  readonly body: () => string | FormData;
}

const contents = [{ role: "user", parts: [{ text: "fox ".repeat(5_000) }] }];

const KINDS: readonly Kind[] = [
  {
    mode: "embedding",
    path: "/v1/embeddings",
    model: "sandbox/embedding-1",
    fallbacks: [{ model: "sandbox/embedding-2", providers: ["sandbox-google"] }],
    estimate: ["prompt_tokens"],
    body: () => JSON.stringify({ model: "sandbox/embedding-1", input: "a red fox" }),
  },
  {
    mode: "embedding",
    path: "/gencompat/v1beta/models/sandbox/embedding-2:embedContent",
    model: "sandbox/embedding-2",
    estimate: ["prompt_tokens"],
    body: () => JSON.stringify({ content: { parts: [{ text: "a red fox" }] } }),
  },
  {
    mode: "moderation",
    path: "/v1/moderations",
    model: "sandbox/moderation-1",
    estimate: ["prompt_tokens"],
    body: () => JSON.stringify({ model: "sandbox/moderation-1", input: "a red fox" }),
  },
  {
    mode: "rerank",
    path: "/v1/rerank",
    model: "sandbox/rerank-1",
    estimate: ["prompt_tokens", "search_units"],
    body: () => JSON.stringify({ model: "sandbox/rerank-1", query: "fox", documents: ["a red fox", "tea"] }),
  },
  {
    mode: "speech",
    path: "/v1/audio/speech",
    model: "sandbox/speech-1",
    estimate: ["characters"],
    body: () => JSON.stringify({ model: "sandbox/speech-1", input: "a red fox", voice: "alloy" }),
  },
  {
    mode: "transcription",
    path: "/v1/audio/transcriptions",
    model: "sandbox/transcription-1",
    estimate: ["seconds", "prompt_tokens", "audio_tokens", "output_tokens"],
    body() {
      const form = new FormData();
      form.append("model", "sandbox/transcription-1");
      form.append("file", new Blob([toneFile("one two three four five")]), "a.wav");
      return form;
    },
  },
  ...["content", "chat"].map((kind): Kind => ({
    mode: "cache",
    path: "/gencompat/v1beta/cachedContents",
    model: `sandbox/${kind}-1`,
    estimate: ["prompt_tokens"],
    body: () => JSON.stringify({ model: `models/sandbox/${kind}-1`, contents, ttl: "600s" }),
  })),
];

async function send({ path, body }: Kind, { key = KEY, dry = "true" } = {}) {
  const sent = body();
  const answer = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "x-goog-api-key": key,
      "x-service-dry-run": dry,
      ...typeof sent === "string" && { "content-type": "application/json" },
    },
    body: sent,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text };
}

async function creditsOf(key: string) {
  const answer = await fetch(`${gateway.address}/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
  return await answer.json();
}

for (const kind of KINDS) {
  const name = `a dry run of ${kind.path} with ${kind.model}`;

  Deno.test(`${name} names provider and price, and has no effect`, async () => {
    const before = [gateway.sandbox.requests.length, await creditsOf(KEY)];
    const { status, headers, text } = await send(kind);
    assertEquals([status, headers.get("x-service-cost")], [200, null], text);
    const { estimate, providers, ...rest } = JSON.parse(text);
    assertEquals(rest, {
      dry_run: true,
      model: kind.model,
      mode: kind.mode,
      fallbacks: kind.fallbacks ?? [],
      dropped: [],
      balance_covers: true,
      admitted: true,
      refused_by: null,
    });
    assertEquals(providers.length, 1);
    assertEquals(Object.keys(estimate), [...kind.estimate, `${kind.mode}_cost`, "cost"]);
    for (const field of kind.estimate) assert(estimate[field] > 0, field);
    assertEquals(Number(estimate[`${kind.mode}_cost`]), estimate.cost);
    assert(estimate.cost > 0);
    assertEquals([gateway.sandbox.requests.length, await creditsOf(KEY)], before);
    if (kind.mode !== "cache") return;
    const list = await fetch(`${gateway.address}${kind.path}`, { headers: { "x-goog-api-key": KEY } });
    assertEquals(await list.json(), { cachedContents: [] });
  });

  Deno.test(`${name} says what would refuse the request`, async () => {
    const poor = await send(kind, { key: POOR });
    const { balance_covers, admitted, refused_by } = JSON.parse(poor.text);
    assertEquals([poor.status, balance_covers, admitted], [200, false, false], poor.text);
    assertEquals([refused_by.code, refused_by.limit], ["insufficient_credits", "balance"]);
    // A dry run takes no rate.
    for (const _ of [1, 2]) assertEquals(JSON.parse((await send(kind, { key: ONCE })).text).admitted, true);
    assertEquals((await send(kind, { dry: "yes" })).status, 400);
  });
}

Deno.test("a dry run costs at least what the request is charged", async () => {
  for (const kind of KINDS.filter(({ mode }) => mode !== "cache")) {
    const { estimate } = JSON.parse((await send(kind)).text);
    const paid = await send(kind, { dry: "false" });
    assertEquals(paid.status, 200);
    const cost = Number(paid.headers.get("x-service-cost"));
    assert(cost > 0 && cost <= estimate.cost, `${kind.path}: ${cost} of ${estimate.cost}`);
  }
});

Deno.test("a dry run names the fields that the vendor would not be sent", async () => {
  const embedding = itemAt(KINDS, 0);
  const body = () => JSON.stringify({ model: "sandbox/embedding-1", input: "fox", colour: "red" });
  const { headers, text } = await send({ ...embedding, body });
  assertEquals([headers.get("x-service-dropped"), JSON.parse(text).dropped], ["colour", ["colour"]]);
});

Deno.test("a dry run reports mistakes as the request would", async () => {
  for (const kind of KINDS.slice(0, 5)) {
    assertEquals((await send({ ...kind, body: () => "{}" })).status, 400, kind.path);
  }
});

Deno.test("a dry run of a cache says that the key has as many as it may", async () => {
  const capped = await startEmbeddingGateway({
    config: { models, accounts, limits: { cached_contents: { count: 1 } } },
  });
  const cache = itemAt(KINDS, KINDS.length - 1);
  const headers = { "x-goog-api-key": KEY, "content-type": "application/json" };
  const url = `${capped.address}${cache.path}`;
  const made = await fetch(url, { method: "POST", headers, body: cache.body() });
  assertEquals(made.status, 200, await made.text());
  const dry = await fetch(url, {
    method: "POST",
    headers: { ...headers, "x-service-dry-run": "true" },
    body: cache.body(),
  });
  const { balance_covers, admitted, refused_by } = await dry.json();
  assertEquals([dry.status, balance_covers, admitted], [200, true, false]);
  assertEquals([refused_by.code, refused_by.limit], ["rate_limited", null]);
  assertStringIncludes(refused_by.message, "this API key may have 1 cached contents");
  await capped.stop();
});

Deno.test.afterAll(async () => {
  await gateway.stop();
});
