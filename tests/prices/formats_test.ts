import { assertEquals, assertThrows } from "@std/assert";
import { comparePrices } from "../../src/vendors/prices/price_changes.ts";
import { runPriceJob } from "../../src/vendors/prices/price_job.ts";
import { PriceListError } from "../../src/vendors/prices/price_problems.ts";
import { readPriceList } from "../../src/vendors/prices/read_price_list.ts";
import { repeatedNames } from "../../src/vendors/prices/repeated_names.ts";

function read(source: unknown, ...families: string[]) {
  return readPriceList(JSON.stringify(source), new Set(families));
}

Deno.test("OpenRouter's list has prices at OpenRouter and of the vendors, with its bands and hours", () => {
  const book = read(
    {
      data: [
        {
          id: "anthropic/claude-opus-5.5",
          name: "Claude",
          context_length: 1_000_000,
          architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
          top_provider: { max_completion_tokens: 128_000 },
          expiration_date: "2027-05-01",
          pricing: {
            prompt: "0.000004",
            completion: "0.00002",
            request: "0",
            image: "0",
            internal_reasoning: "0.00002",
            input_cache_read: "0.0000004",
            overrides: [
              { min_prompt_tokens: 200_000, prompt: "0.000008" },
              { utc_start: "16:30", utc_end: "00:30", completion: "0.00001" },
              { some_day: "monday", completion: "0.1" },
            ],
          },
        },
        { id: "openai/gpt-6-sol:free", pricing: { prompt: "0", completion: "0" } },
        { id: "openrouter/auto", pricing: { prompt: "-1", completion: "-1" } },
        { id: "unknown/one", pricing: { prompt: "cheap", completion: "1" } },
        { id: "openai/picture", architecture: { output_modalities: ["image"] }, pricing: { prompt: "0.1" } },
      ],
    },
    "anthropic",
    "openai",
  );
  assertEquals(Object.keys(book), ["anthropic/claude-opus-5-5"]);
  assertEquals(book["anthropic/claude-opus-5-5"], {
    pricing: {
      prompt: "0.000004",
      completion: "0.00002",
      input_cache_read: "0.0000004",
      overrides: [
        { min_prompt_tokens: 200_000, prompt: "0.000008" },
        { utc_start: "16:30", utc_end: "00:30", completion: "0.00001" },
      ],
    },
    fields: {
      name: "Claude",
      context_length: 1_000_000,
      top_provider: { max_completion_tokens: 128_000 },
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
    },
    expirationDate: "2027-05-01",
  });
  const atOpenrouter = read(
    { data: [{ id: "openai/gpt-6-sol:free", pricing: { prompt: "0", completion: "0" } }] },
    "openrouter",
  );
  assertEquals(Object.keys(atOpenrouter), ["openrouter/openai/gpt-6-sol:free"]);
});

Deno.test("LiteLLM's map has bands, tiers, batches and dates; a name with its vendor precedes one without", () => {
  const prices = { input_cost_per_token: 2e-6, output_cost_per_token: 1e-5, mode: "chat" };
  const book = read(
    {
      sample_spec: { litellm_provider: "one of many", input_cost_per_token: "text", mode: "chat" },
      "gpt-6-sol": {
        ...prices,
        litellm_provider: "openai",
        input_cost_per_token_above_272k_tokens: 4e-6,
        input_cost_per_token_flex: 1e-6,
        input_cost_per_token_batches: 1e-6,
        deprecation_date: "2027-04-01",
        max_input_tokens: 400_000,
        max_output_tokens: 128_000,
      },
      "deepseek-chat": { ...prices, litellm_provider: "deepseek", input_cost_per_token: 9e-6 },
      "deepseek/deepseek-chat": { ...prices, litellm_provider: "deepseek" },
      "gemini/gemini-4": { ...prices, litellm_provider: "gemini" },
      "1024-x-1024/dall-e": { litellm_provider: "openai", mode: "image_generation", input_cost_per_image: 0.1 },
      "bedrock/one": { ...prices, litellm_provider: "bedrock", input_cost_per_token: -1 },
    },
    "openai",
    "deepseek",
    "google",
  );
  assertEquals(Object.keys(book), ["openai/gpt-6-sol", "deepseek/deepseek-chat", "google/gemini-4"]);
  assertEquals(book["deepseek/deepseek-chat"]?.pricing.prompt, "0.000002");
  assertEquals(book["openai/gpt-6-sol"], {
    pricing: {
      prompt: "0.000002",
      completion: "0.00001",
      overrides: [{ min_prompt_tokens: 272_000, prompt: "0.000004" }, { batch: true, prompt: "0.000001" }],
    },
    tiers: { flex: { prompt: "0.000001" } },
    fields: { context_length: 400_000, top_provider: { max_completion_tokens: 128_000 } },
    expirationDate: "2027-04-01",
  });
});

Deno.test("the list of models.dev has prices of a million tokens", () => {
  const model = {
    name: "Sol",
    limit: { context: 400_000, output: 128_000 },
    modalities: { input: ["text", "pdf"], output: ["text"] },
    cost: { input: 2, output: 10, cache_read: 0.2, context_over_200k: { input: 4, output: 15 } },
  };
  const source = {
    openai: { models: { "gpt-6-sol": model, "gpt-image": { ...model, modalities: { output: ["image"] } } } },
    reseller: { models: { "gpt-6-sol": { ...model, cost: { input: -1, output: 1 } } } },
  };
  assertEquals(read(source, "openai"), {
    "openai/gpt-6-sol": {
      pricing: {
        prompt: "0.000002",
        completion: "0.00001",
        input_cache_read: "0.0000002",
        overrides: [{ min_prompt_tokens: 200_000, prompt: "0.000004", completion: "0.000015" }],
      },
      fields: {
        name: "Sol",
        context_length: 400_000,
        top_provider: { max_completion_tokens: 128_000 },
        architecture: { input_modalities: ["text", "file"], output_modalities: ["text"] },
      },
    },
  });
  const huge = { openai: { models: { "gpt-6-sol": { ...model, cost: { input: 2e6, output: "ten" } } } } };
  const error = assertThrows(() => read(huge, "openai"), PriceListError);
  assertEquals(error.problems, [
    "openai/gpt-6-sol: cost.input: expected a price from 0 to 0.01 USD, found 2",
    'openai/gpt-6-sol: cost.output: expected a price of a million tokens in USD, found "ten"',
  ]);
});

Deno.test("our own format is that of another gateway's catalog, prices of seconds and overrides included", () => {
  const book = read({
    data: [{
      id: "kling/kling-v3",
      owned_by: "kling",
      pricing: { per_second_720p_audio: "0.1", per_second_720p_silent: "0.08" },
      pricing_overrides: [{ from: "2027-01-01T00:00:00Z", per_second_720p_audio: "0.2" }],
    }],
  }, "kling");
  assertEquals(book["kling/kling-v3"]?.pricePerSecond, { "720p_audio": "0.1", "720p_silent": "0.08" });
});

Deno.test("repeatedNames() finds names that occur twice in one object, also behind escapes", () => {
  assertEquals(repeatedNames('{"a": {"b": "x:{\\"a\\":1}"}, "b": [{"a": 1}, {"a": 2}], "a": 2}'), ["a"]);
  assertEquals(repeatedNames('{"x": {"m": 1, "m": 2}}'), ["m"]);
  assertEquals(repeatedNames('["a", "a", {"b": "b"}]'), []);
});

Deno.test("a factor of a built-in model multiplies the new price, and other prices of a source replace its own", () => {
  const list = {
    "gpt-6-sol": {
      litellm_provider: "openai",
      mode: "chat",
      input_cost_per_token: 2.5e-6,
      output_cost_per_token: 1.25e-5,
      input_cost_per_token_batches: 9e-6,
    },
  };
  const bytes = new TextEncoder().encode(JSON.stringify(list)).buffer;
  const result = runPriceJob({ bytes, families: ["openai"], current: {}, maxChange: 0.5 });
  if (result.type !== "read") throw new Error(result.problems.join());
  assertEquals([result.pending, result.unusable], [[], []]);
  const [change] = result.applied;
  const changed = Object.entries(change?.after ?? {}).filter(([name, price]) => change?.before?.[name] !== price);
  assertEquals(changed, [["prompt", "0.0000025"], ["completion", "0.0000125"]]);
});

Deno.test("a band that is new and a price that is left out wait, as large changes do", () => {
  const sourced = (pricing: Record<string, unknown>) => ({ "a/b": { pricing, fields: {} } });
  const compare = (next: Record<string, unknown>) =>
    comparePrices(sourced({ prompt: "0.000002", completion: "0.00001" }), sourced(next), {
      maxChange: 0.5,
      builtIn: () => null,
    }).pending.map(({ reason }) => reason);
  const base = { prompt: "0.000002", completion: "0.00001" };
  assertEquals(compare({ ...base, prompt: "0.000003" }), []);
  assertEquals(compare({ ...base, prompt: "0.0000031" }), ["max_change"]);
  assertEquals(compare({ ...base, overrides: [{ min_prompt_tokens: 200_000, prompt: "0.000004" }] }), ["max_change"]);
  assertEquals(compare({ ...base, overrides: [{ min_prompt_tokens: 200_000, prompt: "0.0000025" }] }), []);
  assertEquals(compare({ prompt: "0.000002" }), ["vanished"]);
  assertEquals(compare({ ...base, input_cache_read: "0" }), ["zero"]);
  assertEquals(compare({ ...base, web_search: "0" }), []);
});
