import { assertEquals, assertThrows } from "@std/assert";
import * as z from "zod";
import { readTariff } from "../../src/money/billing/prices/tariff.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { pricesIn } from "../../src/vendors/catalog/prices/price_list.ts";
import { modelOf } from "./support.ts";

function pathsOf(fields: Record<string, unknown>): string[] {
  const error = assertThrows(() => modelOf({ id: "a/b", ...fields }), z.ZodError) as z.ZodError;
  return error.issues.map(({ path }) => path.join("."));
}

Deno.test("readModel() fills in defaults for a model of two lines", () => {
  assertEquals(readModel({ id: "lumen/talk-2", serves: [{ provider: "one" }] }), {
    id: "lumen/talk-2",
    canonicalSlug: "lumen/talk-2",
    name: "talk-2",
    description: "",
    created: 0,
    ownedBy: "lumen",
    contextLength: 0,
    architecture: {
      modality: "text->text",
      inputModalities: ["text"],
      outputModalities: ["text"],
      tokenizer: "Other",
      instructType: null,
    },
    pricing: {},
    pricedAt: -Infinity,
    ownSearches: 0,
    isFree: false,
    tariff: readTariff({}),
    prices: { pricing: {}, overrides: [], tiers: {} },
    topProvider: { contextLength: 0, maxCompletionTokens: 0, isModerated: false },
    perRequestLimits: null,
    supportedParameters: [],
    defaultParameters: null,
    expirationDate: null,
    redirect: null,
    text: true,
    image: null,
    video: null,
    serves: [{ provider: "one", model: "talk-2", weight: 1 }],
    fallbacks: [],
  });
});

Deno.test("readModel() keeps prices as they are written", () => {
  const pricing = { prompt: "0.000000003625", completion: "1", input_cache_read: "0.10", audio_output: "0" };
  assertEquals(modelOf({ id: "a/b", pricing }).pricing, pricing);
});

Deno.test("readModel() reads the day a model appeared as Unix seconds", () => {
  assertEquals(modelOf({ id: "a/b", created: "2026-09-22" }).created, 1_790_035_200);
  assertEquals(modelOf({ id: "a/b", created: "2026-09-22T00:00:01Z" }).created, 1_790_035_201);
  assertEquals(modelOf({ id: "a/b", created: 1_790_035_200 }).created, 1_790_035_200);
  for (const created of ["2026-02-30", "yesterday", -1, 1.5, 1e15, null]) {
    assertEquals(pathsOf({ created }), ["created"]);
  }
});

Deno.test("readModel() treats a model as a text model unless it has another section", () => {
  const video = { modes: ["text2video"], price_per_second: { default: "1" } };
  assertEquals(modelOf({ id: "a/b" }).text, true);
  assertEquals(modelOf({ id: "a/b", image: {} }).text, false);
  assertEquals(modelOf({ id: "a/b", video }).text, false);
  assertEquals(modelOf({ id: "a/b", image: { series: "multimodal" } }).text, false);
  assertEquals(modelOf({ id: "a/b", image: { series: "multimodal" }, text: true }).text, true);
  assertEquals(pathsOf({ text: false }), ["text"]);
});

Deno.test("readModel() derives the modalities from a model's sections", () => {
  const modalityOf = (fields: Record<string, unknown>) => modelOf({ id: "a/b", ...fields }).architecture.modality;
  assertEquals(modalityOf({ image: {} }), "text->image");
  assertEquals(modalityOf({ image: { edits: true } }), "text+image->image");
  assertEquals(modalityOf({ image: { series: "multimodal" } }), "text+image->text+image");
  const price_per_second = { default: "1" };
  assertEquals(modalityOf({ video: { modes: ["text2video", "img2video"], price_per_second } }), "text+image->video");
  const mixed = { modes: ["text2video", "mixref2video"], price_per_second };
  assertEquals(modalityOf({ video: mixed }), "text+image+audio+video->video");
  assertEquals(modalityOf({ video: { ...mixed, references: { audio: 0 } } }), "text+image+video->video");
  assertEquals(modalityOf({ architecture: { input_modalities: ["text", "file"] } }), "text+file->text");
});

Deno.test("readModel() names every invalid field", () => {
  assertEquals(pathsOf({ id: "a/../b" }), ["id"]);
  assertEquals(pathsOf({ pricing: { prompt: "1e-6" } }), ["pricing.prompt"]);
  assertEquals(pathsOf({ pricing: { prompt: "0.0000000000000000001" } }), ["pricing.prompt"]);
  assertEquals(pathsOf({ expiration_date: "soon" }), ["expiration_date"]);
  assertEquals(pathsOf({ serves: [] })[0], "serves");
  assertEquals(pathsOf({ architecture: { input_modalities: ["smell"] } }), ["architecture.input_modalities.0"]);
  assertEquals(pathsOf({ name: "a\u0000b" }), ["name"]);
  assertEquals(pathsOf({ context_length: 1.5, created: "x" }), ["created", "context_length"]);
});

Deno.test("readModel() accepts every id of the form provider/name and no other", () => {
  for (
    const id of [
      "a/b",
      "z-ai/glm.5_3",
      "minimax/MiniMax-M3",
      "a/b:free",
      "a/b@2",
      "openrouter/meta-llama/llama-4",
      "cloud/@cf/meta/llama-4",
    ]
  ) {
    assertEquals(modelOf({ id }).id, id);
  }
  for (
    const id of [
      "a",
      "a/",
      "/b",
      "a//c",
      "a/b/",
      "a/b/../c",
      "a/b/.c",
      "a/b c",
      "a/.b",
      "../b",
      "a/b?",
      "a/b#",
      "a/b%2F",
      "ä/b",
      `a/${"b".repeat(129)}`,
      `a${"/b".repeat(8)}`,
      `a/${"b".repeat(128)}/${"c".repeat(126)}`,
    ]
  ) {
    assertEquals(pathsOf({ id }), ["id"], id);
  }
});

Deno.test("readModel() rejects a price that none of the model's endpoints charges", () => {
  assertEquals(pathsOf({ image: {}, pricing: { web_search: "0.01", audio: "0.1" } }), [
    "pricing.audio",
    "pricing.web_search",
  ]);
  const video = { modes: ["text2video"], price_per_second: { default: "1" } };
  assertEquals(pathsOf({ video, pricing: { request: "0.01" } }), ["pricing.request"]);
  // The price of tokens of made images follows this one.
  assertEquals(modelOf({ id: "a/b", image: {}, pricing: { completion: "0.1" } }).tariff.image_output, 10n ** 17n);
  const both = modelOf({ id: "a/b", image: { series: "multimodal" }, pricing: { web_search: "0.01", per_image: "1" } });
  assertEquals([both.tariff.web_search, both.tariff.per_image], [10n ** 16n, 10n ** 18n]);
});

Deno.test("readModel() reads the prices of service tiers, which default to the model's own", () => {
  const pricing = { prompt: "0.1", completion: "0.2" };
  const { prices } = modelOf({ id: "a/b", pricing, pricing_tiers: { priority: { prompt: "0.3" } } });
  const { tariff } = pricesIn(prices, { at: 0, promptTokens: 0, serviceTier: "priority", region: null });
  assertEquals([tariff.prompt, tariff.completion], [3n * 10n ** 17n, 2n * 10n ** 17n]);
  assertEquals(pathsOf({ pricing_tiers: { standard: {} } }), ["pricing_tiers.standard"]);
  assertEquals(pathsOf({ pricing_tiers: { flex: { prompt: "cheap" } } }), ["pricing_tiers.flex.prompt"]);
  assertEquals(pathsOf({ pricing_tiers: { flex: { promt: "0.1" } } }), ["pricing_tiers.flex"]);
  assertEquals(pathsOf({ image: {}, pricing_tiers: { flex: { prompt: "0.1" } } }), ["pricing_tiers.flex"]);
});
