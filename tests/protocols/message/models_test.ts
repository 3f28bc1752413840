import Anthropic from "@anthropic-ai/sdk";
import { assertEquals } from "@std/assert";
import { createCatalog } from "../../../src/vendors/catalog/catalog.ts";
import { messageModelRoutes } from "../../../src/protocols/message/models.ts";
import { getJson, modelOf, sampleCatalog, withServer } from "../../catalog/support.ts";

const routes = messageModelRoutes(sampleCatalog(), () => ({ passes: false, searches: false }));
const IDS = ["a/1", "a/2", "b/3", "b/4", "b/5"];
const many = messageModelRoutes(
  createCatalog(IDS.map((id) => modelOf({ id }))),
  () => ({ passes: false, searches: false }),
);

/** The ids of a page and its three paging fields. */
async function pageOf(path: string): Promise<unknown[]> {
  const { data, has_more, first_id, last_id } = await getJson(many, `/msgcompat/v1/models${path}`);
  return [(data as { id: string }[]).map(({ id }) => id), has_more, first_id, last_id];
}

Deno.test("GET /msgcompat/v1/models/{provider}/{model_id} has the documented fields of the message style and its client's", async () => {
  const { capabilities, ...fields } = await getJson(routes, "/msgcompat/v1/models/lumen/talk-2");
  assertEquals(Object.keys(capabilities as object), [
    "batch",
    "citations",
    "code_execution",
    "context_management",
    "effort",
    "image_input",
    "pdf_input",
    "server_tools",
    "structured_outputs",
    "thinking",
  ]);
  assertEquals(fields, {
    type: "model",
    id: "lumen/talk-2",
    display_name: "Lumen Talk 2",
    created_at: "2026-05-04T00:00:00Z",
    max_input_tokens: 200_000,
    max_tokens: 8192,
    lifecycle: "deprecated",
    line: null,
    deprecated_at: null,
    retires_at: "2027-05-04T00:00:00Z",
    owned_by: "lumen",
    canonical_slug: "lumen/talk-2-2026-05",
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
    supported_parameters: ["temperature", "tools"],
    expiration_date: "2027-05-04",
  });
});

Deno.test("GET /msgcompat/v1/models lists every text model on one page", async () => {
  const list = await getJson(routes, "/msgcompat/v1/models");
  assertEquals(Object.keys(list), ["data", "has_more", "first_id", "last_id"]);
  const data = list.data as { id: string }[];
  assertEquals(data.map(({ id }) => id), ["lumen/talk-2", "other/talk-9"]);
  for (const model of data) assertEquals(await getJson(routes, `/msgcompat/v1/models/${model.id}`), model);
  assertEquals(await pageOf(""), [IDS, false, "a/1", "b/5"]);
  assertEquals(await pageOf("/b"), [["b/3", "b/4", "b/5"], false, "b/3", "b/5"]);
});

Deno.test("GET /msgcompat/v1/models returns the page that limit, after_id and before_id ask for", async () => {
  assertEquals(await pageOf("?limit=2"), [["a/1", "a/2"], true, "a/1", "a/2"]);
  assertEquals(await pageOf("?limit=2&after_id=a/2"), [["b/3", "b/4"], true, "b/3", "b/4"]);
  assertEquals(await pageOf("?limit=2&after_id=b%2F4"), [["b/5"], false, "b/5", "b/5"]);
  assertEquals(await pageOf("?after_id=b/5"), [[], false, null, null]);
  assertEquals(await pageOf("?limit=2&before_id=b/5"), [["b/3", "b/4"], true, "b/3", "b/4"]);
  assertEquals(await pageOf("?limit=2&before_id=a/2"), [["a/1"], false, "a/1", "a/1"]);
  assertEquals(await pageOf("/b?limit=1"), [["b/3"], true, "b/3", "b/3"]);
  assertEquals(await pageOf("?limit=1000"), [IDS, false, "a/1", "b/5"]);
});

Deno.test("GET /msgcompat/v1/models ignores invalid paging", async () => {
  for (const query of ["?limit=0", "?limit=-1", "?limit=x", "?limit=1e3", "?after_id=no/such", "?beta=true"]) {
    assertEquals(await pageOf(query), [IDS, false, "a/1", "b/5"], query);
  }
});

Deno.test("the anthropic client pages to the end and retrieves models", async () => {
  await withServer(many, async (base) => {
    const client = new Anthropic({ baseURL: `${base}/msgcompat`, apiKey: "any", maxRetries: 0 });
    for (const limit of [undefined, 1, 2, 5, 1000]) {
      const ids = [];
      for await (const model of client.models.list(limit ? { limit } : {})) ids.push(model.id);
      assertEquals(ids, IDS);
    }
    assertEquals((await client.models.retrieve("b/4")).display_name, "4");
  });
});

Deno.test("GET /msgcompat/v1/models returns the models in the stages that lifecycle asks for", async () => {
  const idsOf = async (query: string) => {
    const list = await getJson(routes, `/msgcompat/v1/models${query}`);
    return [(list.data as { id: string }[]).map(({ id }) => id), list.first_id, list.has_more];
  };
  assertEquals(await idsOf("?lifecycle=active"), [["other/talk-9"], "other/talk-9", false]);
  assertEquals(await idsOf("?lifecycle[]=deprecated&lifecycle[]=retired"), [["lumen/talk-2"], "lumen/talk-2", false]);
  assertEquals(await idsOf("?lifecycle=active&lifecycle=deprecated&limit=1"), [["lumen/talk-2"], "lumen/talk-2", true]);
  assertEquals(await idsOf("?lifecycle=retired"), [[], null, false]);
  await withServer(routes, async (base) => {
    const client = new Anthropic({ baseURL: `${base}/msgcompat`, apiKey: "any", maxRetries: 0 });
    const active = await Array.fromAsync(client.models.list({ lifecycle: ["active"] }));
    assertEquals(active.map(({ id, lifecycle }) => [id, lifecycle]), [["other/talk-9", "active"]]);
  });
});

Deno.test("unknown limits are null, as the client types them", async () => {
  const { max_input_tokens, max_tokens } = await getJson(many, "/msgcompat/v1/models/a/1");
  assertEquals([max_input_tokens, max_tokens], [null, null]);
});
