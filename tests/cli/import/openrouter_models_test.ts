import { assertEquals } from "@std/assert";
import { importOpenrouterModels } from "../../../src/entry/cli/import/openrouter_models.ts";
import { written } from "../../support/imported.ts";

Deno.test("import openrouter-models carries facts and prices, and leaves out models without a fixed price", () => {
  const result = importOpenrouterModels({
    data: [
      {
        id: "acme/large:free",
        name: "Acme: $5 Large",
        context_length: 8_000,
        architecture: { input_modalities: ["text"], output_modalities: ["text"] },
        pricing: { prompt: "0.0000025", completion: "1e-5", image: "0.001", discount: 0 },
        supported_parameters: ["tools"],
      },
      { id: "acme/auto", pricing: { prompt: "-1" } },
      { id: "acme/painter", architecture: { output_modalities: ["image"] } },
    ],
  }, "models.json");
  assertEquals(written(result).models, [{
    id: "openrouter/acme/large:free",
    name: "Acme: $$5 Large",
    context_length: 8_000,
    architecture: { input_modalities: ["text"], output_modalities: ["text"] },
    pricing: { prompt: "0.0000025", completion: "0.00001", per_input_image: "0.001" },
    supported_parameters: ["tools"],
    serves: [{ provider: "openrouter", model: "acme/large:free" }],
  }]);
  assertEquals(result.dropped, [
    "acme/auto: its price is not fixed, or is not one that is charged here",
    "acme/painter: its output, image, is not served at OpenRouter",
  ]);
});

Deno.test("import openrouter-models carries models by what they return", () => {
  const model = (id: string, outputs: string[], pricing: Record<string, unknown>) => ({
    id,
    architecture: { input_modalities: ["text"], output_modalities: outputs },
    pricing,
    supported_parameters: ["max_tokens"],
  });
  const result = importOpenrouterModels({
    data: [
      model("acme/embed", ["embeddings"], { prompt: "2e-8", completion: "0" }),
      model("acme/rank", ["rerank"], { prompt: "0", request: "0.001" }),
      model("acme/rank-2", ["rerank"], { prompt: "0", search: "0.001" }),
      model("acme/singer", ["text", "audio"], { prompt: "1e-6", completion: "4e-6", audio_output: "0.00002" }),
      model("acme/picture", ["text", "image"], { prompt: "1e-6", image_output: "0.00003", overrides: [{}] }),
      model("acme/voice", ["speech"], { prompt: "1e-6" }),
      model("acme/scribe", ["transcription"], { prompt: "1e-6" }),
      model("google/veo-3.1", ["video"], { prompt: "0" }),
      model("acme/film", ["video"], { prompt: "0" }),
    ],
  }, "models.json");
  const { models } = written(result);
  assertEquals(models.map(({ id }: { id: string }) => id), [
    "openrouter/acme/embed",
    "openrouter/acme/rank",
    "openrouter/acme/singer",
    "openrouter/acme/picture",
    "openrouter/google/veo-3.1",
  ]);
  assertEquals([models[0].pricing, models[0].embedding], [{ prompt: "0.00000002" }, {}]);
  assertEquals([models[1].pricing, models[1].rerank], [{ request: "0.001" }, {}]);
  assertEquals(models[2].pricing.audio_output, "0.00002");
  assertEquals(models[3].pricing, { prompt: "0.000001", image_output: "0.00003" });
  assertEquals(models[4].video.modes.length > 0, true);
  assertEquals(result.dropped, [
    "acme/rank-2: its price is not fixed, or is not one that is charged here",
    "acme/picture: the price overrides has no counterpart",
    "acme/voice: its output, speech, is not served at OpenRouter",
    "acme/scribe: its output, transcription, is not served at OpenRouter",
    "acme/film: its output, video, is not served at OpenRouter",
  ]);
});
