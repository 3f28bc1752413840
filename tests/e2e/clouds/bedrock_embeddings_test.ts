import { assert, assertEquals } from "@std/assert";
import OpenAI from "openai";
import { vectorOf } from "../../../src/sandbox/vectors.ts";
import { embeddingModel } from "../../embeddings/embedding_gateway.ts";
import { withBedrock } from "./bedrock_stage.ts";

const TITAN = "bedrock/amazon.titan-embed-text-v2:0";
const COHERE = "bedrock/cohere.embed-multilingual-v3";
const COHERE_4 = "bedrock/us.cohere.embed-v4:0";
const OTHER = "bedrock/amazon.nova-2-multimodal-embeddings-v1:0";

const models = [TITAN, COHERE, COHERE_4, OTHER].map((id) => embeddingModel(id, ["bedrock"]));
const TEXTS = ["a red fox", "a lazy dog", "nothing"];

Deno.test("bedrock embeddings: the OpenAI client gets those of Titan, by one signed request for each text", async () => {
  await withBedrock(async ({ gateway: { address, key }, sandbox }) => {
    const client = new OpenAI({ apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 });
    const made = await client.embeddings.create({ model: TITAN, input: TEXTS, dimensions: 512 }).withResponse();
    assertEquals(
      made.data.data.map(({ embedding }) => Math.fround(embedding[0] ?? 0)),
      TEXTS.map((text) => Math.fround(vectorOf(text, 512)[0] ?? 0)),
    );
    assertEquals(made.data.usage.prompt_tokens, 7);
    assertEquals(Number(made.response.headers.get("x-service-cost")), 7 / 1e6);
    const texts = sandbox.requests.map(({ path, body }) => {
      assertEquals(path, "/bedrock/model/amazon.titan-embed-text-v2%3A0/invoke");
      const { inputText, ...others } = body as { inputText: string };
      assertEquals(others, { dimensions: 512 });
      return inputText;
    });
    assertEquals(texts.sort(), TEXTS.toSorted());
  }, { models });
});

Deno.test("bedrock embeddings: Cohere's models get up to 96 texts, with the type of the caller", async () => {
  await withBedrock(async ({ gateway: { address, key }, sandbox }) => {
    const post = (body: Record<string, unknown>) =>
      fetch(`${address}/v1/embeddings`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const first = await post({ model: COHERE, input: "a red fox", input_type: "search_query", user: "me" });
    assertEquals([first.status, first.headers.get("x-service-dropped")], [200, "user"]);
    const { data, usage } = await first.json();
    assertEquals([data[0].embedding, usage.prompt_tokens], [vectorOf("a red fox", 256), 3]);
    assertEquals(sandbox.requests[0]?.body, {
      texts: ["a red fox"],
      input_type: "search_query",
      embedding_types: ["float"],
    });
    const input = Array.from({ length: 200 }, (_, nth) => `text ${nth}`);
    const many = await post({ model: COHERE_4, input, dimensions: 512 });
    const { data: vectors, usage: counted } = await many.json();
    assertEquals(vectors.map(({ embedding }: { embedding: number[] }) => embedding[0]).slice(90, 200), [
      ...input.slice(90).map((text) => vectorOf(text, 512)[0]),
    ]);
    assertEquals(counted.prompt_tokens, 400);
    const sizes = sandbox.requests.slice(1).map(({ body }) => (body as { texts: string[] }).texts.length);
    assertEquals(sizes.sort(), [8, 96, 96]);
  }, { models });
});

Deno.test("bedrock embeddings: failures name the cause, cost nothing, and stop further requests", async () => {
  await withBedrock(async ({ gateway: { address, key, logLines }, sandbox }) => {
    const post = async (body: Record<string, unknown>) => {
      const answer = await fetch(`${address}/v1/embeddings`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: answer.status, cost: answer.headers.get("x-service-cost"), ...await answer.json() };
    };
    const other = await post({ model: OTHER, input: "a" });
    assertEquals([other.status, other.error.param], [400, "model"]);
    const ids = await post({ model: TITAN, input: [1, 2] });
    assertEquals([ids.status, ids.error.param], [400, "input"]);
    const dimensions = await post({ model: COHERE, input: "a", dimensions: 512 });
    assertEquals([dimensions.status, dimensions.cost], [400, null]);
    assert(dimensions.error.message.includes("output_dimension"), dimensions.error.message);
    const before = sandbox.requests.length;
    const input = Array.from({ length: 100 }, (_, nth) => nth === 3 ? "[[fail 400]] a" : "a");
    const failed = await post({ model: TITAN, input });
    assertEquals(failed.status, 400);
    assert(sandbox.requests.length - before < 50, `${sandbox.requests.length - before} requests`);
    const silent = await post({ model: COHERE, input: "[[nousage]] abcd" });
    assertEquals(silent.usage.prompt_tokens, 4);
    assert(!logLines.some((line) => line.includes("usage_implausible")));
  }, { models });
});
