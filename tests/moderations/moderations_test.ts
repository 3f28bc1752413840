import { assertEquals, assertStringIncludes } from "@std/assert";
import OpenAI from "openai";
import { withEmbeddings, withStub } from "../embeddings/embedding_gateway.ts";

const moderator = (id: string, provider: string, fields = {}) => ({
  id,
  pricing: { request: "0.00001" },
  moderation: {},
  serves: [{ provider }],
  ...fields,
});

const models = [moderator("sandbox/moderation-1", "sandbox-openai")];

Deno.test("moderations: the OpenAI client gets a result for each text, with and without a model", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1`, maxRetries: 0 });
    const { id, model, results } = await client.moderations.create({
      model: "sandbox/moderation-1",
      input: ["I will kill the lights", "a fox"],
    });
    assertStringIncludes(id, "modr-");
    assertEquals([model, results.map(({ flagged }) => flagged)], ["sandbox/moderation-1", [true, false]]);
    assertEquals([results[0]?.categories.violence, results[0]?.category_scores.violence], [true, 0.9]);
    const one = await client.moderations.create({ input: "a fox" });
    assertEquals([one.model, one.results.length], ["sandbox/moderation-1", 1]);
    const parts = await client.moderations.create({
      input: [{ type: "text", text: "kill" }, { type: "image_url", image_url: { url: "https://example.com/a.png" } }],
    });
    assertEquals(parts.results.map(({ flagged }) => flagged), [true]);
    assertEquals(Math.round(await gateway.spent() * 1e5), 3);
  });
});

Deno.test("moderations: bad requests are refused with the field, and nothing is sent", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const cases: readonly [change: Record<string, unknown>, field: string][] = [
      [{ model: 7 }, "model"],
      [{ model: "sandbox/chat-1" }, "model"],
      [{ input: undefined }, "input"],
      [{ input: [] }, "input"],
      [{ input: 7 }, "input"],
      [{ input: new Array(101).fill("a") }, "input"],
      [{ input: ["a", 1] }, "input[0]"],
      [{ input: [{ type: "text", text: 1 }] }, "input[0]"],
      [{ input: [{ type: "image_url", image_url: "https://example.com" }] }, "input[0]"],
      [{ input: [{ type: "text", text: "a" }, { type: "file" }] }, "input[1]"],
    ];
    for (const [change, field] of cases) {
      const answer = await gateway.post("/v1/moderations", { model: "sandbox/moderation-1", input: "a", ...change });
      const { error } = await answer.json();
      assertEquals([answer.status, error.param], [400, field], JSON.stringify(change).slice(0, 80));
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("moderations: without a model that moderates, the error asks for one", async () => {
  await withEmbeddings({}, async (gateway) => {
    const answer = await gateway.post("/v1/moderations", { input: "a" });
    const { error } = await answer.json();
    assertEquals([answer.status, error.param], [400, "model"]);
    assertStringIncludes(error.message, "expected the id of a model that can moderate");
    const embedding = await gateway.post("/v1/moderations", { model: "sandbox/embedding-1", input: "a" });
    assertStringIncludes((await embedding.json()).error.message, "it is served by /v1/embeddings");
  });
});

Deno.test("moderations: a broken reply is an error without a charge, and tokens are charged where they have a price", async () => {
  let reply = "";
  const priced = moderator("stub/moderation-1", "stub", { pricing: { prompt: "0.000001" } });
  await withStub(() => reply, async (gateway) => {
    const ask = () => gateway.post("/v1/moderations", { model: "stub/moderation-1", input: ["a", "b"] });
    const one = '{"flagged":false,"categories":{}}';
    for (
      reply of [
        "",
        "{}",
        '{"results":[]}',
        `{"results":[${one}]}`,
        `{"results":[${one},${one},${one}]}`,
        `{"results":[1,2]}`,
      ]
    ) {
      const answer = await ask();
      assertEquals([answer.status, (await answer.json()).error.type], [502, "upstream_error"], reply);
    }
    assertEquals(await gateway.spent(), 0);
    // Mistral reports tokens, and no `flagged`.
    const mistral = '{"categories":{"pii":true,"law":null},"category_scores":{"pii":0.9}}';
    reply = `{"id":"m","results":[${mistral},${one}],"usage":{"prompt_tokens":9}}`;
    const { results } = await (await ask()).json();
    assertEquals(results.map(({ flagged }: { readonly flagged: boolean }) => flagged), [true, false]);
    assertEquals(results[0].category_scores, { pii: 0.9 });
    assertEquals(Math.round(await gateway.spent() * 1e6), 9);
  }, { models: [priced] });
});
