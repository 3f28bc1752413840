import { assertEquals } from "@std/assert";
import { decimalOf } from "../../../src/vendors/prices/litellm_prices.ts";
import { importPriceMap } from "../../../src/entry/cli/import/price_map.ts";
import { written } from "../../support/imported.ts";

Deno.test("models import carries the models of the vendors that are asked for", () => {
  const map = {
    sample_spec: { mode: "one of chat, embedding" },
    "gpt-9": { litellm_provider: "openai", mode: "chat", input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 },
    "groq/fast": { litellm_provider: "groq", mode: "chat", input_cost_per_token: 5.9e-7, output_cost_per_token: 0 },
    "vectors": { litellm_provider: "openai", mode: "embedding", input_cost_per_token: 2e-8 },
    "nova": { litellm_provider: "snowflake", mode: "chat", input_cost_per_token: 1e-6 },
  };
  const all = written(importPriceMap(map, "prices.json", null));
  assertEquals(all.models.map(({ id }: { id: string }) => id), ["openai/gpt-9", "groq/fast", "openai/vectors"]);
  const some = written(importPriceMap(map, "prices.json", new Set(["groq"])));
  assertEquals(some.models, [{
    id: "groq/fast",
    pricing: { prompt: "0.00000059", completion: "0" },
    serves: [{ provider: "groq", model: "fast" }],
  }]);
});

Deno.test("decimalOf() writes numbers without an exponent", () => {
  assertEquals([1e-7, 2.5e-6, 0.004, 12, 0].map(decimalOf), ["0.0000001", "0.0000025", "0.004", "12", "0"]);
  assertEquals([decimalOf(-1), decimalOf(null)], [null, null]);
});

Deno.test("decimalOf() drops what binary fractions add", () => {
  assertEquals([1.6800000000000002e-7, 1.1428571428571428e-6].map(decimalOf), ["0.000000168", "0.000001142857142857"]);
});

/** The model that an entry becomes, with the name `m` of the vendor. */
function imported(vendor: string, entry: Record<string, unknown>) {
  const { models = [] } = written(
    importPriceMap({ [`${vendor}/m`]: { litellm_provider: vendor, ...entry } }, "p", null),
  );
  const { id: _id, serves: _serves, ...fields } = models[0] ?? {};
  return fields;
}

Deno.test("models import carries prices of every mode that is served", () => {
  const tokens = { input_cost_per_token: 1e-7, output_cost_per_token: 0 };
  assertEquals(imported("voyage", { mode: "embedding", ...tokens, output_vector_size: 1_024 }), {
    pricing: { prompt: "0.0000001" },
    embedding: { dimensions: 1_024 },
  });
  assertEquals(imported("cohere", { mode: "rerank", input_cost_per_query: 0.002, ...tokens }), {
    pricing: { search_unit: "0.002", prompt: "0.0000001" },
    rerank: {},
  });
  assertEquals(imported("mistral", { mode: "moderation", ...tokens }), {
    pricing: { prompt: "0.0000001" },
    moderation: {},
  });
  assertEquals(imported("openai", { mode: "audio_speech", input_cost_per_character: 1.5e-5 }), {
    pricing: { character: "0.000015" },
    speech: {},
  });
  assertEquals(imported("xai", { mode: "image_generation", input_cost_per_image: 0.02 }), {
    pricing: { per_image: "0.02" },
    image: {},
  });
  assertEquals(imported("black_forest_labs", { mode: "image_edit", output_cost_per_image: 0.04 }), {
    pricing: { per_image: "0.04" },
    image: { series: "reference", edits: true },
  });
});

Deno.test("models import charges nothing twice", () => {
  const tokens = { input_cost_per_token: 2e-6, output_cost_per_token: 1e-5 };
  assertEquals(
    imported("openai", { mode: "audio_transcription", ...tokens, input_cost_per_second: 1e-4 }).pricing,
    { prompt: "0.000002", completion: "0.00001" },
  );
  const perSecond = { mode: "audio_transcription", input_cost_per_second: 1e-4, output_cost_per_second: 1e-4 };
  assertEquals(imported("openai", perSecond).pricing, { audio_second: "0.0001" });
  const image = { output_cost_per_image_token: 1.2e-4, output_cost_per_image: 0.134, input_cost_per_image: 0.0011 };
  assertEquals(imported("openai", { mode: "image_generation", ...tokens, ...image }).pricing, {
    prompt: "0.000002",
    completion: "0.00001",
    image_output: "0.00012",
  });
});

Deno.test("models import names what it leaves out", () => {
  const entry = (vendor: string, mode: string) => ({ litellm_provider: vendor, mode, input_cost_per_token: 1e-6 });
  const result = importPriceMap(
    {
      "gpt-9": { ...entry("openai", "chat"), output_cost_per_video_per_second: 2e-6 },
      "azure/gpt-9": entry("azure", "chat"),
      "azure/eu/gpt-9": entry("azure", "chat"),
      "ft:gpt-9": entry("openai", "chat"),
      "vertex_ai/claude-9": entry("vertex_ai-anthropic_models", "chat"),
      "vertex_ai/imagen": entry("vertex_ai-image-models", "image_generation"),
      "gpt-live": entry("openai", "realtime"),
      "gpt-voice": { ...entry("openai", "audio_speech"), max_output_tokens: 2_000 },
      "gpt-mute": { litellm_provider: "openai", mode: "audio_speech" },
      "amazon.nova": entry("bedrock_converse", "chat"),
      "bedrock/us-east-1/amazon.nova": entry("bedrock", "chat"),
      "arctic": entry("snowflake", "chat"),
    },
    "prices.json",
    null,
  );
  const { models, providers } = written(result);
  assertEquals(models.map(({ id }: { id: string }) => id), [
    "openai/gpt-9",
    "azure/gpt-9",
    "vertex/claude-9",
    "openai/gpt-voice",
    "bedrock/amazon.nova",
  ]);
  assertEquals(models[3], {
    id: "openai/gpt-voice",
    top_provider: { max_completion_tokens: 2_000 },
    pricing: { prompt: "0.000001" },
    speech: {},
    serves: [{ provider: "openai", model: "gpt-voice" }],
  });
  assertEquals(providers.bedrock.secret_key, "${AWS_SECRET_ACCESS_KEY}");
  assertEquals(providers.azure, { kind: "azure", base_url: "${AZURE_API_BASE}", api_key: "${AZURE_API_KEY}" });
  assertEquals(providers.vertex.project, "${VERTEXAI_PROJECT}");
  assertEquals(result.dropped, [
    "prices called output_cost_per_video_per_second: they have no counterpart for text",
    "3 entries: it stands for several models, or for one region, size or quality",
    "1 entry: models for images are not served at vertex",
    "1 entry: mode realtime is not served",
    "1 entry: it has no price that this gateway charges for",
    "entries of other vendors: snowflake 1",
  ]);
});

Deno.test("models import carries bands of long prompts, tiers and batches, also together", () => {
  const result = importPriceMap(
    {
      "gpt-9": {
        litellm_provider: "openai",
        mode: "chat",
        input_cost_per_token: 2e-6,
        output_cost_per_token: 1e-5,
        cache_read_input_token_cost: 2e-7,
        input_cost_per_token_above_272k_tokens: 4e-6,
        output_cost_per_token_above_272k_tokens: 1.5e-5,
        cache_read_input_token_cost_above_272k_tokens: 4e-7,
        input_cost_per_token_above_200k_tokens: 3e-6,
        input_cost_per_token_flex: 1e-6,
        input_cost_per_token_above_272k_tokens_flex: 2e-6,
        input_cost_per_token_priority: 4e-6,
        input_cost_per_token_batches: 1e-6,
        output_cost_per_token_batches: 5e-6,
        input_cost_per_token_above_272k_tokens_batches: 2e-6,
      },
    },
    "prices.json",
    null,
  );
  const [model] = written(result).models;
  assertEquals(model.pricing, {
    prompt: "0.000002",
    completion: "0.00001",
    input_cache_read: "0.0000002",
    overrides: [
      { min_prompt_tokens: 200_000, prompt: "0.000003" },
      { min_prompt_tokens: 272_000, prompt: "0.000004", completion: "0.000015", input_cache_read: "0.0000004" },
      { batch: true, prompt: "0.000001", completion: "0.000005" },
      { min_prompt_tokens: 272_000, batch: true, prompt: "0.000002" },
    ],
  });
  assertEquals(model.pricing_tiers, {
    priority: { prompt: "0.000004" },
    flex: { prompt: "0.000001", overrides: [{ min_prompt_tokens: 272_000, prompt: "0.000002" }] },
  });
  assertEquals(result.dropped, []);
});
