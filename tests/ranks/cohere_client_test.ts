import { assertEquals, assertRejects } from "@std/assert";
import { CohereClientV2, CohereError } from "cohere-ai";
import { withEmbeddings } from "../embeddings/embedding_gateway.ts";

const models = [{
  id: "sandbox/rerank-1",
  pricing: { search_unit: "0.001" },
  rerank: {},
  serves: [{ provider: "sandbox-openai" }],
}];
const documents = ["the price of tea", "the red fox of the north", "a blue whale"];

Deno.test("rerank: Cohere's own client gets its results, the search units, and errors with their status", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const client = new CohereClientV2({ token: gateway.key, environment: gateway.address, maxRetries: 0 });
    const { results, meta, id } = await client.rerank({
      model: "sandbox/rerank-1",
      query: "a red fox",
      documents,
      topN: 2,
      maxTokensPerDoc: 100,
    });
    assertEquals([results.length, results[0]?.index, typeof results[0]?.relevanceScore], [2, 1, "number"]);
    assertEquals([meta?.billedUnits?.searchUnits, typeof id], [1, "string"]);
    assertEquals(gateway.sandbox.requests.at(-1)?.path, "/openai/v1/rerank");
    assertEquals(Math.round(await gateway.spent() * 1e3), 1);
    const refused = await assertRejects(() => client.rerank({ model: "none", query: "a", documents }), CohereError);
    assertEquals(refused.statusCode, 404);
  });
});
