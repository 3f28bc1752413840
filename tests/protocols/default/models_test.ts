import { assertEquals } from "@std/assert";
import OpenAI from "openai";
import { defaultModelRoutes } from "../../../src/protocols/default/models.ts";
import { getJson, sampleCatalog, withServer } from "../../catalog/support.ts";

const routes = defaultModelRoutes(sampleCatalog());

Deno.test("GET /v1/models/{provider}/{model_id} has the documented fields of the default style and its client's", async () => {
  assertEquals(await getJson(routes, "/v1/models/lumen/talk-2"), {
    id: "lumen/talk-2",
    object: "model",
    created: 1_777_852_800,
    owned_by: "lumen",
    canonical_slug: "lumen/talk-2-2026-05",
    name: "Lumen Talk 2",
    description: "Talks.",
    context_length: 200_000,
    architecture: {
      modality: "text+image->text",
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
      tokenizer: "Lumen",
      instruct_type: null,
    },
    pricing: { prompt: "0.000001", completion: "0.000002", input_cache_write_5m: "0.00000125" },
    top_provider: { context_length: 200_000, max_completion_tokens: 8192, is_moderated: true },
    per_request_limits: null,
    supported_parameters: ["temperature", "tools"],
    default_parameters: null,
    expiration_date: "2027-05-04",
    shutdown_date: "2027-05-04",
  });
});

Deno.test("GET /v1/models returns a list of the same objects, whatever the query", async () => {
  const list = await getJson(routes, "/v1/models?limit=1&after=x");
  assertEquals(Object.keys(list), ["object", "data"]);
  assertEquals(list.object, "list");
  const data = list.data as { id: string }[];
  assertEquals(data.length, 6);
  for (const model of data) assertEquals(await getJson(routes, `/v1/models/${model.id}`), model);
  const ofOne = await getJson(routes, "/v1/models/lumen");
  assertEquals(ofOne, { object: "list", data: data.filter(({ id }) => id.startsWith("lumen/")) });
});

Deno.test("GET /v1/models returns a video's price per second", async () => {
  const { pricing } = await getJson(routes, "/v1/models/film/reel-1");
  assertEquals(pricing, { per_second_720p: "0.1" });
});

Deno.test("the openai client lists and retrieves models", async () => {
  await withServer(routes, async (base) => {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "any", maxRetries: 0 });
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    assertEquals(ids, sampleCatalog().models.map(({ id }) => id));
    const model = await client.models.retrieve("lumen/talk-2");
    assertEquals([model.owned_by, model.shutdown_date], ["lumen", "2027-05-04"]);
    assertEquals((await client.models.retrieve("other/talk-9")).shutdown_date, undefined);
  });
});
