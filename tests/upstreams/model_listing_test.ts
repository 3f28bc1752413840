import { anthropicListing, googleListing } from "../../src/vendors/upstreams/shared/capability_listings.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  listModels,
  MAX_LISTED_MODELS,
  type ModelListing,
  openaiListing,
} from "../../src/vendors/upstreams/contract/model_listing.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";

const NOTHING = {
  name: null,
  description: null,
  created: null,
  contextLength: null,
  maxOutputTokens: null,
  inputModalities: null,
  expirationDate: null,
};

/** Returns an outbound that responds by path. */
function outboundWith(answer: (path: string) => unknown, requestedPaths: string[] = []): Outbound {
  const json: Outbound["json"] = (_method, path, _body, read) => {
    requestedPaths.push(path);
    return Promise.resolve().then(() => read(answer(path)));
  };
  return { json, firstByteMs: 1_000 } as Outbound;
}

function listed(listing: ModelListing, answer: (path: string) => unknown, requestedPaths: string[] = []) {
  return listModels(outboundWith(answer, requestedPaths), listing, new AbortController().signal);
}

Deno.test("openaiListing reads the lists of OpenAI and compatible vendors, and bare arrays", () => {
  const data = [
    { id: "gpt-6", object: "model", created: 1_790_000_000, owned_by: "openai" },
    {
      id: "meta-llama/llama-4",
      name: "Llama\n4",
      description: "Open  weights",
      context_length: 128_000,
      architecture: { input_modalities: ["text", "image", 7], output_modalities: ["text"] },
      top_provider: { max_completion_tokens: 8_192 },
    },
    { id: "vllm-model", max_model_len: 4_096 },
    { id: "painter", architecture: { output_modalities: ["image"] } },
  ];
  const models = [
    { ...NOTHING, id: "gpt-6", created: 1_790_000_000 },
    {
      ...NOTHING,
      id: "meta-llama/llama-4",
      name: "Llama 4",
      description: "Open weights",
      contextLength: 128_000,
      maxOutputTokens: 8_192,
      inputModalities: ["text", "image"],
      expirationDate: null,
    },
    { ...NOTHING, id: "vllm-model", contextLength: 4_096 },
  ];
  assertEquals(openaiListing.readPage({ object: "list", data }), { models, next: null });
  assertEquals(openaiListing.readPage(data).models, models);
  assertEquals(openaiListing.readPage({ data, has_more: true, last_id: "a b" }).next, "/models?after=a%20b");
});

Deno.test("anthropicListing reads ids, names, dates and limits, and continues with after_id", () => {
  const data = [{
    type: "model",
    id: "claude-5",
    display_name: "Claude 5",
    created_at: "2026-05-01T00:00:00Z",
    max_input_tokens: 1_000_000,
    max_tokens: 64_000,
  }];
  assertEquals(anthropicListing.readPage({ data, has_more: true, first_id: "claude-5", last_id: "claude-5" }), {
    models: [{
      ...NOTHING,
      id: "claude-5",
      name: "Claude 5",
      created: Date.UTC(2026, 4, 1) / 1_000,
      contextLength: 1_000_000,
      maxOutputTokens: 64_000,
    }],
    next: "/v1/models?limit=1000&after_id=claude-5",
  });
  assertEquals(anthropicListing.readPage({ data: [{ id: "x", created_at: "soon" }] }).models, [{
    ...NOTHING,
    id: "x",
  }]);
});

Deno.test("googleListing leaves out models without content generation, and continues with pageToken", () => {
  const models = [
    {
      name: "models/gemini-3",
      displayName: "Gemini 3",
      description: "Fast",
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ["generateContent", "countTokens"],
    },
    { name: "models/embedding-1", supportedGenerationMethods: ["embedContent"] },
  ];
  assertEquals(googleListing.readPage({ models, nextPageToken: "t/1" }), {
    models: [{
      ...NOTHING,
      id: "gemini-3",
      name: "Gemini 3",
      description: "Fast",
      contextLength: 1_048_576,
      maxOutputTokens: 65_536,
    }],
    next: "/v1beta/models?pageSize=1000&pageToken=t%2F1",
  });
});

Deno.test("openaiListing reads the dates on which vendors end models", () => {
  const dateOf = (fields: Record<string, unknown>) =>
    openaiListing.readPage([{ id: "a", ...fields }]).models[0]?.expirationDate;
  assertEquals(dateOf({ shutdown_date: "2027-01-14" }), "2027-01-14");
  assertEquals(dateOf({ shutdown_date: 1_799_884_800 }), "2027-01-14");
  assertEquals(dateOf({ deprecation: "2027-04-30T12:00:00Z" }), "2027-04-30");
  assertEquals(dateOf({ expiration_date: "2027-05-01" }), "2027-05-01");
  for (const odd of [null, "soon", "2027-02-30", -1, 1e300, {}]) assertEquals(dateOf({ shutdown_date: odd }), null);
});

Deno.test("listModels() reads all pages and keeps each name once", async () => {
  const requestedPaths: string[] = [];
  const pages: Record<string, unknown> = {
    "/v1/models?limit=1000": { data: [{ id: "a" }, { id: "b", display_name: "B" }], has_more: true, last_id: "b" },
    "/v1/models?limit=1000&after_id=b": { data: [{ id: "b", display_name: "Other" }, { id: "c" }], has_more: false },
  };
  const models = await listed(anthropicListing, (path) => pages[path], requestedPaths);
  assertEquals(models.map(({ id, name }) => [id, name]), [["a", null], ["b", "B"], ["c", null]]);
  assertEquals(requestedPaths, Object.keys(pages));
});

Deno.test("listModels() stops at a repeated page and at its limits", async () => {
  const same: string[] = [];
  await listed(anthropicListing, () => ({ data: [{ id: "a" }], has_more: true, last_id: "a" }), same);
  assertEquals(same.length, 2);
  let count = 0;
  const endless: string[] = [];
  const drip = await listed(
    anthropicListing,
    () => ({ data: [{ id: `m${count++}` }], has_more: true, last_id: "x" }),
    endless,
  );
  assertEquals([drip.length, endless.length], [50, 50]);
  const page = () => ({
    data: Array.from({ length: 1_500 }, () => ({ id: `m${count++}` })),
    has_more: true,
    last_id: "x",
  });
  assertEquals((await listed(anthropicListing, page)).length, MAX_LISTED_MODELS);
});

Deno.test("a listing skips invalid entries and limits the length of texts", () => {
  const data = [
    null,
    7,
    "gpt",
    {},
    { id: 7 },
    { id: "" },
    { id: "x".repeat(193) },
    {
      id: "odd\u0000 id",
      name: "n".repeat(1_000_000),
      created: -1,
      context_length: "many",
      max_completion_tokens: 1e300,
    },
    { id: "fine", architecture: { input_modalities: Array.from({ length: 100 }, () => "text") } },
  ];
  const { models } = openaiListing.readPage({ data });
  assertEquals(models.map(({ id }) => id), ["odd\u0000 id", "fine"]);
  assertEquals([models[0]?.name?.length, models[0]?.created, models[0]?.contextLength, models[0]?.maxOutputTokens], [
    200,
    null,
    null,
    null,
  ]);
  assertEquals(models[1]?.inputModalities?.length, 16);
  for (const answer of [null, 7, "x", {}, { data: {} }]) {
    assertThrows(() => openaiListing.readPage(answer), TypeError);
    assertThrows(() => anthropicListing.readPage(answer), TypeError);
    assertThrows(() => googleListing.readPage(answer), TypeError);
  }
  const many = Array.from({ length: 100_000 }, (_, index) => ({ id: `m${index}` }));
  assert(openaiListing.readPage({ data: many }).models.length <= MAX_LISTED_MODELS);
});

Deno.test("listModels() rejects with the vendor's failure", async () => {
  await assertRejects(() => listed(openaiListing, () => ({ error: "no" })), TypeError);
});
