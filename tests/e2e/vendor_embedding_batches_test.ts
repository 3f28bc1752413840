import { assertEquals, assertStringIncludes } from "@std/assert";
import { PRICING } from "../support/gateway.ts";
import { withVendorBatches } from "./vendor_batch_stage.ts";

const EMBEDDINGS = "/v1/embeddings";
const MODERATIONS = "/v1/moderations";
const BATCH_PRICING = { prompt: PRICING.prompt, overrides: [{ batch: true, factor: "0.5" }] };
const MODELS = [
  { id: "sandbox/embed-1", pricing: BATCH_PRICING, embedding: {}, serves: [{ provider: "sandbox-openai" }] },
  { id: "sandbox/embed-2", pricing: BATCH_PRICING, embedding: {}, serves: [{ provider: "sandbox-google" }] },
  {
    id: "sandbox/embed-plain",
    pricing: { prompt: PRICING.prompt },
    embedding: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  { id: "sandbox/moderate-1", pricing: "free", moderation: {}, serves: [{ provider: "sandbox-openai" }] },
];
const OPTIONS = { extraModels: MODELS };

const embedLine = (id: string, model: string, input: unknown) => ({ custom_id: id, body: { model, input } });

const VENDORS = [
  ["sandbox/embed-1", "POST /openai/v1/batches", "POST /openai/v1/embeddings"],
  [
    "sandbox/embed-2",
    "POST /google/v1beta/models/embed-2:asyncBatchEmbedContent",
    "POST /google/v1beta/models/embed-2:batchEmbedContents",
  ],
] as const;

for (const [model, create, single] of VENDORS) {
  Deno.test(`vendors' batches: embeddings of ${model} are a batch of its vendor at half price, with the vectors of single requests`, async () => {
    await withVendorBatches(async ({ create: createBatch, ended, linesOf, charges, call, money, countOf }) => {
      const texts = Array.from({ length: 5 }, (_, n) => `A text of some words, number ${n}`);
      const created = await createBatch(texts.map((text, n) => embedLine(`line ${n}`, model, text)), EMBEDDINGS);
      assertEquals(created.service_batch.mode, "vendor");
      const batch = await ended(created.id);
      assertEquals(batch.request_counts, { total: 5, completed: 5, failed: 0 });
      assertEquals([countOf(create), countOf(single)], [1, 0]);
      const paid = await charges();
      for (const { custom_id: id, response } of await linesOf(batch.output_file_id)) {
        const { json } = await call("POST", EMBEDDINGS, { model, input: texts[Number(id.slice(5))] });
        assertEquals(response.body, json);
        assertEquals(paid.get(id)?.toFixed(10), (json.usage.prompt_tokens * Number(PRICING.prompt) / 2).toFixed(10));
      }
      assertEquals([paid.size, (await money()).held], [5, 0]);
    }, OPTIONS);
  });
}

Deno.test("vendors' batches: embeddings with several inputs are sent in OpenAI's batches, and run here for Google's models", async () => {
  await withVendorBatches(async ({ create, ended, linesOf, countOf }) => {
    const inputs = ["one", "two", "three"];
    const created = await create([
      embedLine("openai", "sandbox/embed-1", inputs),
      embedLine("google", "sandbox/embed-2", inputs),
      embedLine("plain", "sandbox/embed-plain", inputs),
    ], EMBEDDINGS);
    assertEquals(created.service_batch.mode, "mixed");
    const batch = await ended(created.id);
    assertEquals(batch.request_counts, { total: 3, completed: 3, failed: 0 });
    for (const { response } of await linesOf(batch.output_file_id)) assertEquals(response.body.data.length, 3);
    assertEquals([countOf("POST /openai/v1/batches"), countOf("POST /openai/v1/embeddings")], [1, 1]);
    assertEquals(countOf("POST /google/v1beta/models/embed-2:batchEmbedContents"), 1);
  }, OPTIONS);
});

Deno.test("vendors' batches: moderations are a batch of OpenAI's, and a line that the vendor refuses fails by itself", async () => {
  await withVendorBatches(async ({ create, ended, linesOf, call, money, countOf }) => {
    const line = (id: string, input: string) => ({ custom_id: id, body: { model: "sandbox/moderate-1", input } });
    const created = await create([line("good", "Hello"), line("refused", "[[fail 400]] Hello")], MODERATIONS);
    assertEquals(created.service_batch, { mode: "vendor", estimate: "0.0000000000", cost: "0.0000000000" });
    const batch = await ended(created.id);
    assertEquals(batch.request_counts, { total: 2, completed: 1, failed: 1 });
    const [good] = await linesOf(batch.output_file_id);
    const { json } = await call("POST", MODERATIONS, { model: "sandbox/moderate-1", input: "Hello" });
    assertEquals(good?.response.body.results, json.results);
    const [refused] = await linesOf(batch.error_file_id);
    assertEquals([refused?.custom_id, refused?.response.status_code], ["refused", 400]);
    assertEquals([countOf("POST /openai/v1/batches"), (await money()).held], [1, 0]);
  }, OPTIONS);
});

Deno.test("vendors' batches: a result of an embedding that is none fails its line, and costs nothing", async () => {
  await withVendorBatches(async ({ create, ended, linesOf, charges }) => {
    for (const [model] of VENDORS) {
      const created = await create([
        embedLine(`${model} good`, model, "Hello"),
        embedLine(`${model} page`, model, "[[html]] Hello"),
      ], EMBEDDINGS);
      const batch = await ended(created.id);
      assertEquals(batch.request_counts, { total: 2, completed: 1, failed: 1 });
      const [failed] = await linesOf(batch.error_file_id);
      assertEquals([failed?.custom_id, failed?.response.status_code], [`${model} page`, 502]);
      assertStringIncludes(JSON.stringify(failed?.response.body), "upstream_error");
    }
    assertEquals((await charges()).size, 2);
  }, OPTIONS);
});
