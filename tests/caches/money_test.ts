import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { cacheRecords, CACHES_PATH, CONTENT_TOKENS, CONTENTS, inGateway, MODELS } from "./cache_gateway.ts";
import { textModel } from "../support/gateway.ts";
import { eventually } from "../support/account_money.ts";

inGateway(
  "a creation costs its tokens at the price of a cache write, a hit its tokens at the price of a read",
  async (gateway) => {
    for (const model of MODELS) {
      const start = await gateway.purse.balance();
      const name = await gateway.create({ model });
      const created = await gateway.purse.balance();
      assertEquals(start - created, BigInt(CONTENT_TOKENS) * readMoney("0.00000125"), model);
      const row = await gateway.purse.latestCharge();
      assertEquals([row?.model, row?.usage.cache_write_1h_tokens], [
        model,
        CONTENT_TOKENS,
      ]);
      for (let hit = 0; hit < 3; hit++) {
        const before = await gateway.purse.balance();
        const { json } = await gateway.send(model, name);
        assertEquals(json.usageMetadata.cachedContentTokenCount, CONTENT_TOKENS, `${model}, hit ${hit}`);
        const expected = BigInt(CONTENT_TOKENS) * readMoney("0.0000001") + 2n * readMoney("0.000001") +
          BigInt(json.usageMetadata.candidatesTokenCount) * readMoney("0.000002");
        assertEquals(before - await gateway.purse.balance(), expected, `${model}, hit ${hit}`);
      }
    }
  },
);

inGateway(
  "a creation is charged at the price of an hour's cache where the catalog has one, and nothing where all is free",
  async (gateway) => {
    const start = await gateway.purse.balance();
    await gateway.create({ model: "sandbox/hourly-1" });
    assertEquals(start - await gateway.purse.balance(), BigInt(CONTENT_TOKENS) * readMoney("0.000002"));
    await gateway.create({ model: "sandbox/free-1" });
    assertEquals(start - await gateway.purse.balance(), BigInt(CONTENT_TOKENS) * readMoney("0.000002"));
  },
);

inGateway(
  "tokens are counted by the vendor where it has a counter, otherwise by the gateway, and the response says which",
  async (gateway) => {
    const countedBy = async (model: string) => {
      const { headers, json } = await gateway.call("POST", CACHES_PATH, { model, contents: CONTENTS });
      const again = await gateway.call("GET", `/gencompat/v1beta/${json.name}`);
      assertEquals(again.headers.get("x-service-counted-by"), headers.get("x-service-counted-by"));
      return headers.get("x-service-counted-by");
    };
    assertEquals(await countedBy("sandbox/content-1"), "sandbox-google");
    assertEquals(await countedBy("sandbox/chat-1"), "sandbox-openai");
    assertEquals(await countedBy("sandbox/messages-1"), "sandbox-anthropic");
    assertEquals(await countedBy("sandbox/plain-1"), "gateway");
  },
);

inGateway("a creation is 402 without balance, and no vendor is called and nothing stored", async (gateway) => {
  const { status, json } = await gateway.call("POST", CACHES_PATH, { model: "sandbox/content-1", contents: CONTENTS });
  assertEquals([status, json.error.status], [402, "FAILED_PRECONDITION"]);
  assertEquals([gateway.seen("/").length, gateway.files(), await cacheRecords(gateway)], [0, [], 0]);
}, { balance: "0" });

inGateway(
  "a creation that its vendor refuses or fails returns that failure, costs nothing and stores nothing",
  async (gateway) => {
    const start = await gateway.purse.balance();
    const create = async (model: string, contents: unknown = CONTENTS) => {
      const { status, json } = await gateway.call("POST", CACHES_PATH, { model, contents });
      return [status, json.error.status];
    };
    const small = [{ role: "user", parts: [{ text: "The sky is blue" }] }];
    assertEquals(
      await create("sandbox/small-1", small),
      [400, "INVALID_ARGUMENT"],
      "the vendor's least size is passed on",
    );
    assertEquals(await create("sandbox/missing-1"), [404, "NOT_FOUND"]);
    assertEquals(await create("sandbox/missing-2"), [404, "NOT_FOUND"]);
    assertEquals(await create("sandbox/badkey-1"), [401, "UNAUTHENTICATED"]);
    const video = [{ role: "user", parts: [{ inlineData: { mimeType: "video/mp4", data: "AAAA" } }] }];
    assertEquals(await create("sandbox/messages-1", video), [400, "INVALID_ARGUMENT"]);
    await eventually(async () => (await cacheRecords(gateway)) === 0);
    assertEquals([gateway.files(), await gateway.purse.balance()], [[], start]);
  },
  {
    models: [
      { id: "sandbox/small-1", serves: [{ provider: "sandbox-google", model: "gemini-3-flash" }] },
      { id: "sandbox/missing-1", serves: [{ provider: "sandbox-google", model: "missing" }] },
      { id: "sandbox/missing-2", serves: [{ provider: "sandbox-anthropic", model: "missing" }] },
      { id: "sandbox/badkey-1", serves: [{ provider: "bad-google" }] },
    ],
    providers: ({ baseUrls }: { baseUrls: { google: string } }) => ({
      "bad-google": { kind: "google", base_url: baseUrls.google, api_key: "bad-key" },
    }),
  },
);

inGateway("a creation goes to the next provider when the first fails", async (gateway) => {
  const body = { model: "sandbox/two-1", contents: CONTENTS };
  const { status, headers } = await gateway.call("POST", CACHES_PATH, body);
  assertEquals([status, headers.get("x-service-provider")], [200, "sandbox-anthropic"]);
  await eventually(async () => (await cacheRecords(gateway)) === 1);
}, {
  models: [{ id: "sandbox/two-1", serves: [{ provider: "bad-google" }, { provider: "sandbox-anthropic", weight: 0 }] }],
  providers: ({ baseUrls }: { baseUrls: { google: string } }) => ({
    "bad-google": { kind: "google", base_url: baseUrls.google, api_key: "bad-key" },
  }),
});

inGateway(
  "a reply without usage, and an interrupted stream, are charged for the cache read and not more",
  async (gateway) => {
    for (const model of MODELS) {
      const name = await gateway.create({ model });
      const contents = [{ role: "user", parts: [{ text: "[[nousage]] Which colour?" }] }];
      const { json } = await gateway.send(model, name, { contents });
      if (model !== "sandbox/content-1") {
        assertEquals(
          json.usageMetadata.cachedContentTokenCount,
          CONTENT_TOKENS,
          model,
        );
      }
      assertEquals((await gateway.purse.latestCharge())?.usage.cache_read_tokens, CONTENT_TOKENS, model);
      const path = `/gencompat/v1beta/models/${model}:streamGenerateContent?alt=sse`;
      const cut = [{ role: "user", parts: [{ text: "[[words 20]] [[close 5]] Which colour?" }] }];
      const { text } = await gateway.call("POST", path, { contents: cut, cachedContent: name });
      assertStringIncludes(text, '"error"');
      const row = await gateway.purse.latestCharge();
      assertEquals([row?.usage.cache_read_tokens, row?.usage.estimated], [CONTENT_TOKENS, true], model);
      assert(Number(row?.usage.fresh_tokens) < 30, model);
    }
  },
);

const IMPLICIT = {
  ...textModel("sandbox/implicit-1", ["sandbox-google"]),
  serves: [{ provider: "sandbox-google", model: "gemini-4-argon" }],
};

inGateway(
  "a content for a model with only the vendor's implicit cache is put before requests, and billed as their input",
  async (gateway) => {
    const model = "sandbox/implicit-1";
    const start = await gateway.purse.balance();
    const created = await gateway.call("POST", CACHES_PATH, { model, contents: CONTENTS });
    assertEquals([created.status, created.headers.get("x-service-cache-billing")], [200, "input"], created.text);
    assertEquals(created.json.usageMetadata.totalTokenCount, CONTENT_TOKENS);
    assertEquals(await gateway.purse.balance(), start);
    assertEquals(gateway.seen("cachedContents"), []);
    for (let hit = 0; hit < 3; hit++) {
      const before = await gateway.purse.balance();
      const { json } = await gateway.send(model, created.json.name);
      const { promptTokenCount, cachedContentTokenCount = 0, candidatesTokenCount, thoughtsTokenCount = 0 } =
        json.usageMetadata;
      assertEquals(promptTokenCount, CONTENT_TOKENS + 2);
      // Only what the vendor itself reports as cached has that price.
      if (hit === 0) assertEquals(cachedContentTokenCount, 0);
      const expected = BigInt(promptTokenCount - cachedContentTokenCount) * readMoney("0.000001") +
        BigInt(cachedContentTokenCount) * readMoney("0.0000001") +
        BigInt(candidatesTokenCount + thoughtsTokenCount) * readMoney("0.000002");
      assertEquals(before - await gateway.purse.balance(), expected, `hit ${hit}`);
    }
    const sent = gateway.seen("gemini-4-argon:generateContent").map(({ body }) => JSON.stringify(body));
    assertEquals(sent.length, 3);
    assert(sent.every((body) => body.includes("The sky is blue.") && !body.includes("cachedContent")));
    const dry = await gateway.call("POST", CACHES_PATH, { model, contents: CONTENTS }, { "x-service-dry-run": "true" });
    assertEquals(dry.json.estimate.cost, 0, dry.text);
  },
  { models: [IMPLICIT] },
);
