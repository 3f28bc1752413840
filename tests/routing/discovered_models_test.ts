import { assertEquals } from "@std/assert";
import { builtInFields } from "../../src/vendors/catalog/built_in.ts";
import { type ModelPattern, readModelPattern } from "../../src/vendors/catalog/model_pattern.ts";
import { discoveredModels } from "../../src/vendors/routing/discovered_models.ts";
import type { ListedModel } from "../../src/vendors/upstreams/contract/model_listing.ts";
import { atLeast, itemAt } from "../support/items.ts";

function listed(id: string, fields: Partial<ListedModel> = {}): ListedModel {
  return {
    id,
    name: null,
    description: null,
    created: null,
    contextLength: null,
    maxOutputTokens: null,
    inputModalities: null,
    expirationDate: null,
    ...fields,
  };
}

function pattern(fields: Record<string, unknown>): ModelPattern {
  return readModelPattern({ id: "far/*", ...fields });
}

Deno.test("discoveredModels() makes models of a vendor's list for a pattern without prices", async () => {
  const { models } = await discoveredModels([pattern({ pricing: "free" })], [
    listed("meta-llama/llama-4", {
      name: "Llama 4",
      description: "Open",
      created: 1_790_000_000,
      contextLength: 128_000,
      maxOutputTokens: 8_192,
      inputModalities: ["text", "image", "smell"],
    }),
    listed("plain"),
  ], null);
  const [llama, plain] = atLeast(models, 2);
  assertEquals([llama.id, llama.name, llama.description, llama.created, llama.contextLength], [
    "far/meta-llama/llama-4",
    "Llama 4",
    "Open",
    1_790_000_000,
    128_000,
  ]);
  assertEquals(llama.serves, [{ provider: "far", model: "meta-llama/llama-4", weight: 1 }]);
  assertEquals([llama.topProvider.maxCompletionTokens, llama.architecture.inputModalities], [8_192, ["text", "image"]]);
  assertEquals([plain.id, plain.name, plain.pricing, plain.text], ["far/plain", "plain", {}, true]);
});

Deno.test("discoveredModels() omits models without a price, and names that make no valid id", async () => {
  const odd = ["a b", "../x", "a//b", "a\nb", "ä", "x".repeat(150), ".hidden", "a?b", "a%2Fb"];
  const list = [listed("fine"), ...odd.map((id) => listed(id))];
  const unpriced = await discoveredModels([pattern({})], list, null);
  assertEquals([unpriced.models, unpriced.unpriced, unpriced.unusable], [[], 1, odd.length]);
  const free = await discoveredModels([pattern({ pricing: "free" })], list, null);
  assertEquals([free.models.map(({ id }) => id), free.unusable], [["far/fine"], odd.length]);
});

Deno.test("discoveredModels() takes prices of the price source, and leaves out those that are no prices", async () => {
  const sourced = (prompt: string) => ({ pricing: { prompt }, fields: { context_length: 7 } });
  const book = {
    "openai/new-1": sourced("0.000001"),
    "openai/new-2": sourced("cheap"),
    "openai/gpt-6-sol": sourced("0.000003"),
  };
  const list = [listed("new-1", { expirationDate: "2031-01-02" }), listed("new-2"), listed("gpt-6-sol")];
  const found = await discoveredModels([readModelPattern({ id: "openai/*" })], list, "openai", book);
  const [fresh, sol] = atLeast(found.models, 2);
  assertEquals([fresh.id, fresh.pricing, fresh.contextLength, fresh.expirationDate], [
    "openai/new-1",
    { prompt: "0.000001" },
    7,
    "2031-01-02",
  ]);
  assertEquals([sol.id, sol.pricing.prompt, sol.pricing.completion], ["openai/gpt-6-sol", "0.000003", "0.00001"]);
  assertEquals([found.models.length, found.unpriced], [2, 1]);
});

Deno.test("discoveredModels() gives built-in models their built-in prices and facts, dated names too", async () => {
  const list = [
    listed("claude-opus-5-5", { name: "Vendor's own" }),
    listed("claude-opus-5-5-20260922"),
    listed("claude-unknown"),
  ];
  const mine = readModelPattern({ id: "mine/*", serves: [{ provider: "my-anthropic" }] });
  const { models, unpriced } = await discoveredModels([mine], list, "anthropic");
  assertEquals(models.map(({ id }) => id), ["mine/claude-opus-5-5", "mine/claude-opus-5-5-20260922"]);
  const known = builtInFields("anthropic", "claude-opus-5-5")!;
  const { overrides: _, ...prices } = known.pricing as Record<string, unknown>;
  for (const model of models) assertEquals(model.pricing as unknown, prices);
  assertEquals([models[0]?.serves[0]?.provider, models[0]?.contextLength, unpriced], ["my-anthropic", 1_000_000, 1]);
  const priced = await discoveredModels([pattern({ pricing: { prompt: "0.5" } })], list, "anthropic");
  assertEquals(
    priced.models.map(({ pricing }) => pricing.prompt),
    [known.pricing, known.pricing, { prompt: "0.5" }].map(
      (each) => (each as { prompt: string }).prompt,
    ),
  );
  assertEquals((await discoveredModels([mine], list, null)).models, []);
});

Deno.test("discoveredModels() applies the longest pattern, and the operator's values before the vendor's", async () => {
  const patterns = [
    pattern({ pricing: { prompt: "1" }, context_length: 10, top_provider: { max_completion_tokens: 5 } }),
    pattern({ id: "far/qwen/*", pricing: "free", fallbacks: ["far/plain"] }),
    pattern({ id: "far/secret-*" }),
  ];
  const limits = { contextLength: 99, maxOutputTokens: 9 };
  const list = [listed("plain", limits), listed("qwen/3", limits), listed("secret-1", limits)];
  const { models } = await discoveredModels(patterns, list, null);
  assertEquals(models.map(({ id, pricing }) => [id, pricing.prompt]), [["far/plain", "1"], ["far/qwen/3", undefined]]);
  assertEquals(models.map(({ contextLength, topProvider }) => [contextLength, topProvider.maxCompletionTokens]), [
    [10, 5],
    [99, 9],
  ]);
  assertEquals(models[1]?.fallbacks, ["far/plain"]);
  assertEquals((await discoveredModels([itemAt(patterns, 1)], list, null)).models.length, 1);
});
