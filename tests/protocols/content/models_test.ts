import { GoogleGenAI } from "@google/genai";
import { assertEquals } from "@std/assert";
import { createCatalog } from "../../../src/vendors/catalog/catalog.ts";
import { contentModelRoutes } from "../../../src/protocols/content/models.ts";
import { getJson, modelOf, sampleCatalog, withPlainErrors, withServer } from "../../catalog/support.ts";

const routes = contentModelRoutes(sampleCatalog());
const IDS = ["a/1", "a/2", "b/3", "b/4", "b/5"];
const many = withPlainErrors(contentModelRoutes(createCatalog(IDS.map((id) => modelOf({ id })))));

Deno.test("GET /gencompat/v1beta/models/{provider}/{model_id} has the documented fields of the content style and its client's", async () => {
  const expected = {
    name: "models/lumen/talk-2",
    version: "2026-05",
    displayName: "Lumen Talk 2",
    description: "Talks.",
    inputTokenLimit: 200_000,
    outputTokenLimit: 8192,
    contextLength: 200_000,
    supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens", "createCachedContent"],
    ownedBy: "lumen",
    canonicalSlug: "lumen/talk-2-2026-05",
    architecture: {
      modality: "text+image->text",
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
      tokenizer: "Lumen",
      instruct_type: null,
    },
    pricing: {
      prompt: "0.000001",
      completion: "0.000002",
      input_cache_write_5m: "0.00000125",
      input_cache_write: "0.00000125",
    },
    topProvider: { context_length: 200_000, max_completion_tokens: 8192, is_moderated: true },
    supportedParameters: ["temperature", "tools"],
    expirationDate: "2027-05-04",
    thinking: false,
  };
  assertEquals(await getJson(routes, "/gencompat/v1beta/models/lumen/talk-2"), expected);
  assertEquals(await getJson(routes, "/gencompat/v1/models/lumen/talk-2"), expected);
});

Deno.test("GET /gencompat/v1beta/models lists text and multimodal image models on one page", async () => {
  const list = await getJson(routes, "/gencompat/v1beta/models");
  assertEquals(Object.keys(list), ["models"]);
  const models = list.models as { name: string; supportedGenerationMethods: string[] }[];
  assertEquals(models.map(({ name }) => name), ["models/lumen/talk-2", "models/lumen/both-1", "models/other/talk-9"]);
  assertEquals(models[1]?.supportedGenerationMethods.includes("createCachedContent"), false);
  for (const model of models) assertEquals(await getJson(routes, `/gencompat/v1beta/${model.name}`), model);
  assertEquals(await getJson(routes, "/gencompat/v1beta/models/other"), { models: [models[2]] });
});

Deno.test("GET at the address of a verb is a method that is not allowed, and of no verb an unknown model", async () => {
  const codes: Record<string, unknown> = {};
  await withServer(withPlainErrors(routes), async (base) => {
    for (const verb of ["generateContent", "countTokens", "embedContent", "fly"]) {
      codes[verb] = (await (await fetch(`${base}/gencompat/v1beta/models/lumen/talk-2:${verb}`)).json()).code;
    }
  });
  const refused = "method_not_allowed";
  assertEquals(codes, {
    generateContent: refused,
    countTokens: refused,
    embedContent: refused,
    fly: "model_not_found",
  });
});

Deno.test("GET /gencompat/v1beta/models pages only when pageSize is given", async () => {
  const names = [];
  let token = "";
  for (const left of [3, 1, 0]) {
    const page = await getJson(many, `/gencompat/v1beta/models?pageSize=2&pageToken=${encodeURIComponent(token)}`);
    names.push(...(page.models as { name: string }[]).map(({ name }) => name));
    assertEquals("nextPageToken" in page, left > 0);
    token = String(page.nextPageToken);
  }
  assertEquals(names, IDS.map((id) => `models/${id}`));
  for (const query of ["?pageSize=0", "?pageSize=x", "?pageToken=anything", "?key=wrong", "?pageSize=1000"]) {
    const page = await getJson(many, `/gencompat/v1beta/models${query}`);
    assertEquals([(page.models as unknown[]).length, "nextPageToken" in page], [5, false], query);
  }
});

Deno.test("GET /gencompat/v1beta/models rejects a token that it did not return", async () => {
  const { code, message } = await getJson(many, "/gencompat/v1beta/models?pageSize=2&pageToken=bad");
  assertEquals([code, message], [
    "invalid_request",
    'Cannot read "pageToken": expected the nextPageToken of an earlier page',
  ]);
});

Deno.test("the google client pages to the end and gets models", async () => {
  await withServer(many, async (base) => {
    for (const apiVersion of [undefined, "v1beta"]) {
      const httpOptions = { baseUrl: `${base}/gencompat`, ...(apiVersion && { apiVersion }) };
      const client = new GoogleGenAI({ apiKey: "any", httpOptions });
      for (const pageSize of [undefined, 1, 2, 5]) {
        const names = [];
        for await (const model of await client.models.list({ config: pageSize === undefined ? {} : { pageSize } })) {
          names.push(model.name);
        }
        assertEquals(names, IDS.map((id) => `models/${id}`));
      }
      assertEquals((await client.models.get({ model: "b/4" })).displayName, "4");
    }
  });
});

Deno.test("the google client reads limits, thinking and defaults of a model", async () => {
  const routes = contentModelRoutes(
    createCatalog([modelOf({
      id: "a/1",
      context_length: 9000,
      top_provider: { max_completion_tokens: 500 },
      supported_parameters: ["reasoning"],
      default_parameters: { temperature: 0.7, top_p: 0.9, top_k: 40, stop: null },
    })]),
  );
  await withServer(routes, async (base) => {
    const client = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: `${base}/gencompat` } });
    const { inputTokenLimit, outputTokenLimit, thinking, temperature, topP, topK, supportedActions } = await client
      .models
      .get({ model: "a/1" });
    assertEquals([inputTokenLimit, outputTokenLimit, thinking], [9000, 500, true]);
    assertEquals([temperature, topP, topK], [0.7, 0.9, 40]);
    assertEquals(supportedActions, ["generateContent", "streamGenerateContent", "countTokens", "createCachedContent"]);
  });
});
