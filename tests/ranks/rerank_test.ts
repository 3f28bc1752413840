import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withEmbeddings, withStub } from "../embeddings/embedding_gateway.ts";

const ranker = (id: string, provider: string, pricing: Record<string, string>) => ({
  id,
  pricing,
  rerank: {},
  serves: [{ provider }],
});

const models = [ranker("sandbox/rerank-1", "sandbox-openai", { search_unit: "0.001" })];
const REQUEST = {
  model: "sandbox/rerank-1",
  query: "a red fox",
  documents: ["the price of tea", "the red fox of the north", "a blue whale"],
};

interface Result {
  readonly index: number;
  readonly relevance_score: number;
  readonly document?: { readonly text: string };
}

Deno.test("rerank: documents are returned by relevance, with their texts on request", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    for (const path of ["/v1/rerank", "/v2/rerank", "/rerank"]) {
      const answer = await gateway.post(path, REQUEST);
      const { id, model, results, usage, meta } = await answer.json();
      assertEquals([id, model], [answer.headers.get("x-service-request-id"), "sandbox/rerank-1"]);
      assertEquals([results[0].index, results.length, "document" in results[0]], [1, 3, false]);
      const scores: number[] = results.map(({ relevance_score }: Result) => relevance_score);
      assertEquals(scores, scores.toSorted((one, other) => other - one));
      assertEquals([usage.search_units, meta], [1, { billed_units: { search_units: 1 } }]);
      assertEquals(answer.headers.get("x-service-cost"), "0.0010000000");
    }
    const documents = [{ text: "tea" }, { text: "red fox" }];
    const top = await gateway.post("/v1/rerank", { ...REQUEST, documents, top_n: 1, return_documents: true });
    const { results } = await top.json();
    assertEquals(results.map(({ index, document }: Result) => [index, document]), [[1, { text: "red fox" }]]);
    assertEquals(gateway.sandbox.requests.at(-1)?.body, {
      model: "rerank-1",
      query: "a red fox",
      documents: ["tea", "red fox"],
      top_n: 1,
    });
    assertEquals(Math.round(await gateway.spent() * 1e3), 4);
  });
});

Deno.test("rerank: a vendor with the quirk gets the number of results as top_k", async () => {
  const ranked = '{"data":[{"index":1,"relevance_score":0.9}],"usage":{"total_tokens":9}}';
  const bodies: unknown[] = [];
  await withStub(async (request) => {
    bodies.push(await request.json());
    return ranked;
  }, async (gateway) => {
    const answer = await gateway.post("/v1/rerank", { ...REQUEST, model: "stub/rerank-1", top_n: 1 });
    assertEquals((await answer.json()).results.map(({ index }: Result) => index), [1]);
    const { query, documents } = REQUEST;
    assertEquals(bodies, [{ model: "rerank-1", query, documents, top_k: 1 }]);
  }, { models: [ranker("stub/rerank-1", "stub", { search_unit: "0.001" })], quirks: ["top_k_ranks"] });
});

Deno.test("rerank: bad requests are refused with the field, and nothing is sent", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const cases: readonly [change: Record<string, unknown>, field: string][] = [
      [{ model: undefined }, "model"],
      [{ model: "sandbox/embedding-1" }, "model"],
      [{ query: "" }, "query"],
      [{ query: ["a"] }, "query"],
      [{ documents: undefined }, "documents"],
      [{ documents: [] }, "documents"],
      [{ documents: "a" }, "documents"],
      [{ documents: ["a", 1] }, "documents[1]"],
      [{ documents: [{ title: "a" }] }, "documents[0]"],
      [{ documents: new Array(1001).fill("a") }, "documents"],
      [{ top_n: 0 }, "top_n"],
      [{ top_n: 1.5 }, "top_n"],
      [{ top_n: "1" }, "top_n"],
      [{ return_documents: "yes" }, "return_documents"],
    ];
    for (const [change, field] of cases) {
      const answer = await gateway.post("/v1/rerank", { ...REQUEST, ...change });
      const { error } = await answer.json();
      assertEquals([answer.status, error.param], [400, field], JSON.stringify(change).slice(0, 80));
    }
    const poor = await gateway.post("/v1/chat/completions", {
      model: "sandbox/rerank-1",
      messages: [{ role: "user", content: "a" }],
    });
    assertStringIncludes((await poor.json()).error.message, "it is served by /v1/rerank");
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("rerank: a broken reply is an error without a charge", async () => {
  const broken = [
    "",
    "{}",
    '{"results":[]}',
    '{"results":[{"index":0,"relevance_score":1}]}',
    '{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}',
    '{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]}',
    '{"results":[{"index":0,"relevance_score":1},{"index":-1,"relevance_score":1}]}',
    '{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":null}]}',
    '{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1e999}]}',
  ];
  let reply = "";
  const stub = ranker("stub/rerank-1", "stub", { search_unit: "0.001" });
  await withStub(() => reply, async (gateway) => {
    for (reply of broken) {
      const answer = await gateway.post("/v1/rerank", { model: "stub/rerank-1", query: "a", documents: ["b", "c"] });
      assertEquals([answer.status, (await answer.json()).error.type], [502, "upstream_error"], reply);
    }
    assertEquals(await gateway.spent(), 0);
  }, { models: [stub] });
});

Deno.test("rerank: units and tokens are charged by the report of each vendor, within what is possible", async () => {
  const results = '"results":[{"index":1,"relevance_score":0.25},{"index":0,"relevance_score":0.75}]';
  const cases: readonly [usage: string, units: number, tokens: number][] = [
    ["", 1, 1],
    [',"meta":{"billed_units":{"search_units":1}}', 1, 1],
    [',"usage":{"total_tokens":7}', 1, 7],
    [',"usage":{"total_tokens":7,"search_units":1}', 1, 7],
    [',"meta":{"billed_units":{"search_units":900}}', 1, 1],
    [',"meta":{"billed_units":{"search_units":-1}}', 1, 1],
    // Two documents of one byte, each with the query, and sixteen more tokens for each.
    [',"usage":{"total_tokens":1000000}', 1, 4 + 32],
  ];
  let usage = "";
  const stub = ranker("stub/rerank-1", "stub", { search_unit: "0.001", prompt: "0.000001" });
  await withStub(() => `{${results}${usage}}`, async (gateway) => {
    for (const [text, units, tokens] of cases) {
      usage = text;
      const answer = await gateway.post("/v1/rerank", { model: "stub/rerank-1", query: "a", documents: ["b", "c"] });
      const body = await answer.json();
      assertEquals(body.usage, { total_tokens: tokens, search_units: units }, text);
      assertEquals(body.results.map(({ index }: Result) => index), [0, 1]);
      assertEquals(Number(answer.headers.get("x-service-cost")), Number((units / 1e3 + tokens / 1e6).toFixed(10)));
    }
    const reasons = gateway.logLines.filter((line) => line.includes("usage_implausible"));
    assert(reasons.length === 3, String(reasons));
  }, { models: [stub] });
});

Deno.test("rerank: long documents can cost as many units as their parts", async () => {
  const reply = '{"results":[{"index":0,"relevance_score":0.5}],"meta":{"billed_units":{"search_units":3}}}';
  const stub = ranker("stub/rerank-1", "stub", { search_unit: "0.001" });
  await withStub(() => reply, async (gateway) => {
    const documents = ["x".repeat(120_000)];
    const answer = await gateway.post("/v1/rerank", { model: "stub/rerank-1", query: "a", documents });
    assertEquals((await answer.json()).usage.search_units, 3);
  }, { models: [stub] });
});
