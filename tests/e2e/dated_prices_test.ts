import { assert, assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../src/platform/lib/basics/clock.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { toneFile } from "../../src/sandbox/tones.ts";
import { accountMoney } from "../support/account_money.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";

const FROM = Date.parse("2027-01-01T00:00:00Z");

/** A clock whose time of day a test sets. Timers and spans are the machine's own. */
function movableClock(startAt: number): Clock & { at: number } {
  const clock = { ...systemClock, at: startAt, now: () => clock.at };
  return clock;
}

/** Prices that double at a moment. */
function doubling(prices: Readonly<Record<string, string>>, from = "2027-01-01") {
  const doubled = Object.entries(prices).map(([key, price]) => [key, String(Number(price) * 2)]);
  return { ...prices, overrides: [{ from, ...Object.fromEntries(doubled) }] };
}

const TEXT = { prompt: "0.0001", completion: "0.0002" };
const text = (id: string, provider: string, pricing: unknown) => ({
  id,
  context_length: 128_000,
  top_provider: { max_completion_tokens: 100 },
  pricing,
  serves: [{ provider }],
});

const models = [
  text("sandbox/chat-1", "sandbox-openai", doubling(TEXT)),
  text("sandbox/messages-1", "sandbox-anthropic", doubling(TEXT)),
  text("sandbox/content-1", "sandbox-google", doubling({ ...TEXT, input_cache_write_1h: "0.0003" })),
  {
    id: "sandbox/embedding-1",
    pricing: doubling({ prompt: "0.0001" }),
    embedding: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/moderation-1",
    pricing: doubling({ request: "0.002" }),
    moderation: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/rerank-1",
    pricing: doubling({ search_unit: "0.001" }),
    rerank: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/speech-1",
    pricing: doubling({ character: "0.001" }),
    speech: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/transcription-1",
    pricing: doubling({ audio_second: "0.001" }),
    transcription: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/image-1",
    pricing: doubling({ per_image: "0.04" }),
    image: {},
    serves: [{ provider: "sandbox-openai", model: "gpt-image-1.5" }],
  },
];

interface Kind {
  readonly what: string;
  readonly path: string;
  readonly body: () => BodyInit;
}

const json = (body: unknown) => () => JSON.stringify(body);
const TURNS = [{ role: "user", content: "a red fox" }];
const CONTENTS = [{ role: "user", parts: [{ text: "fox ".repeat(2_000) }] }];

const KINDS: readonly Kind[] = [
  { what: "chat", path: "/v1/chat/completions", body: json({ model: "sandbox/chat-1", messages: TURNS }) },
  {
    what: "messages",
    path: "/msgcompat/v1/messages",
    body: json({ model: "sandbox/messages-1", max_tokens: 50, messages: TURNS }),
  },
  {
    what: "content",
    path: "/gencompat/v1beta/models/sandbox/content-1:generateContent",
    body: json({ contents: [{ role: "user", parts: [{ text: "a red fox" }] }] }),
  },
  {
    what: "caches",
    path: "/gencompat/v1beta/cachedContents",
    body: json({ model: "models/sandbox/content-1", contents: CONTENTS, ttl: "600s" }),
  },
  { what: "embeddings", path: "/v1/embeddings", body: json({ model: "sandbox/embedding-1", input: "a red fox" }) },
  { what: "moderations", path: "/v1/moderations", body: json({ model: "sandbox/moderation-1", input: "a red fox" }) },
  {
    what: "ranks",
    path: "/v1/rerank",
    body: json({ model: "sandbox/rerank-1", query: "fox", documents: ["a red fox", "a hen"] }),
  },
  {
    what: "speech",
    path: "/v1/audio/speech",
    body: json({ model: "sandbox/speech-1", input: "a red fox", voice: "alloy" }),
  },
  {
    what: "transcriptions",
    path: "/v1/audio/transcriptions",
    body() {
      const form = new FormData();
      form.set("model", "sandbox/transcription-1");
      form.set("file", new File([toneFile("a red fox")], "tone.wav", { type: "audio/wav" }));
      return form;
    },
  },
  {
    what: "images",
    path: "/v1/images/generations",
    body: json({ model: "sandbox/image-1", prompt: "a red fox", quality: "low", size: "1024x1024" }),
  },
];

async function post({ address, key }: TestGateway, { path, body }: Omit<Kind, "what">, isTrial = false) {
  const sent = body();
  const response = await fetch(`${address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "msg-version": "2023-06-01",
      ...typeof sent === "string" && { "content-type": "application/json" },
      ...isTrial && { "x-service-dry-run": "true" },
    },
    body: sent,
  });
  const answer = await response.text();
  assertEquals(response.status, 200, answer);
  return answer;
}

Deno.test("each kind of request is reserved and charged by the price of the moment at which it began", async () => {
  const clock = movableClock(FROM - 1);
  const gateway = await startTestGateway({ clock, isolates: 1, config: { models } });
  try {
    const money = accountMoney(gateway);
    const estimateOf = async (kind: Kind) => Number(JSON.parse(await post(gateway, kind, true)).estimate.cost);
    const costOf = async (kind: Kind) => {
      await post(gateway, kind);
      const charge = await money.latestCharge();
      assert(charge !== null, kind.what);
      return readMoney(charge.cost);
    };
    const before = new Map<string, readonly [number, bigint]>();
    for (const kind of KINDS) before.set(kind.what, [await estimateOf(kind), await costOf(kind)]);
    clock.at = FROM;
    for (const kind of KINDS) {
      const [estimate, cost] = before.get(kind.what) ?? [0, 0n];
      assert(estimate > 0 && cost > 0n, kind.what);
      // A text that arrives just before the change can be sent after it, so its estimate has the higher price before.
      const isText = ["chat", "messages", "content"].includes(kind.what);
      const isClose = Math.abs(await estimateOf(kind) / estimate - (isText ? 1 : 2)) < 1e-9;
      assert(isClose, `${kind.what}: the estimate has to ${isText ? "be that of after the change" : "double"}`);
      assertEquals(await costOf(kind), 2n * cost, kind.what);
    }
  } finally {
    await gateway.stop();
  }
});

Deno.test("a request that runs across the change keeps its price, in its charge and in its reply", async () => {
  const clock = movableClock(FROM - 1);
  const asked = Promise.withResolvers<void>();
  const changed = Promise.withResolvers<void>();
  const vendor = startScriptedUpstream(async (side) => {
    await side.request();
    asked.resolve();
    await changed.promise;
    await side.say(chatReply("hello", { prompt: 100, completion: 10 }));
  });
  const gateway = await startTestGateway({
    clock,
    isolates: 1,
    config: {
      providers: { slow: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-vendor", speaks: "chat" } },
      models: [text("acme/m", "slow", doubling(TEXT))],
    },
  });
  try {
    const answer = post(gateway, {
      path: "/v1/chat/completions",
      body: json({ model: "acme/m", messages: TURNS }),
    });
    await asked.promise;
    clock.at = FROM;
    changed.resolve();
    await answer;
    const charge = await accountMoney(gateway).latestCharge();
    assertEquals(charge?.cost, "0.0120000000"); // 100 × 0.0001 + 10 × 0.0002
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});

Deno.test("the catalogs show the prices of now as text, and those that are to come beside them", async () => {
  const clock = movableClock(FROM - 1);
  const gateway = await startTestGateway({ clock, isolates: 1, config: { models } });
  try {
    const read = async (path: string) => await (await fetch(`${gateway.address}${path}`)).json();
    const paths = ["/v1/models", "/msgcompat/v1/models"].map((path) => `${path}/sandbox/chat-1`);
    const coming = [{ from: "2027-01-01T00:00:00Z", prompt: "0.0002", completion: "0.0004" }];
    for (const path of paths) {
      const { pricing, pricing_overrides } = await read(path);
      assertEquals([pricing, pricing_overrides], [TEXT, coming]);
    }
    const { pricing, pricingOverrides } = await read("/gencompat/v1beta/models/sandbox/chat-1");
    assertEquals([pricing, pricingOverrides], [TEXT, coming]);
    clock.at = FROM;
    for (const path of paths) {
      const model = await read(path);
      assertEquals([model.pricing, "pricing_overrides" in model], [{ prompt: "0.0002", completion: "0.0004" }, false]);
    }
  } finally {
    await gateway.stop();
  }
});

for (const isolates of [1, 2]) {
  Deno.test(`${isolates} thread(s): a price whose day is past applies, and one whose day is to come does not`, async () => {
    const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
    const gateway = await startTestGateway({
      isolates,
      config: {
        models: [
          text("sandbox/chat-1", "sandbox-openai", doubling(TEXT)),
          text("sandbox/past", "sandbox-openai", doubling(TEXT, day(-2))),
          text("sandbox/coming", "sandbox-openai", doubling(TEXT, day(2))),
          {
            ...text("sandbox/old", "sandbox-openai", { prompt: "0.001" }),
            redirected_to: { model: "past", from: day(-2) },
          },
        ].map((model) => ({ ...model, serves: [{ provider: "sandbox-openai", model: model.id.slice(8) }] })),
      },
    });
    try {
      const money = accountMoney(gateway);
      const cost = async (model: string) => {
        const body = json({ model, messages: TURNS, max_tokens: 20 });
        await post(gateway, { path: "/v1/chat/completions", body });
        const charge = await money.latestCharge();
        assertEquals(charge?.model, model);
        return readMoney(charge?.cost ?? "0");
      };
      const base = await cost("sandbox/coming");
      assert(base > 0n);
      for (let time = 0; time < 4; time++) {
        assertEquals(await cost("sandbox/past"), 2n * base);
        assertEquals(await cost("sandbox/old"), 2n * base);
      }
      assertEquals((gateway.sandbox.requests.at(-1)?.body as { model: string }).model, "past");
    } finally {
      await gateway.stop();
    }
  });
}
