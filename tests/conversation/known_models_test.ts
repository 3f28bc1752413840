import { assertEquals } from "@std/assert";
import { modelFacts } from "../../src/conversation/known_models.ts";
import { UNKNOWN_FACTS } from "../../src/conversation/model_facts.ts";

function factsOf(name: string, supportedParameters: readonly string[] = [], id = "own/model") {
  return modelFacts(name, { id, supportedParameters });
}

Deno.test("modelFacts() recognises a family by the vendor's name of a model, with or without its maker", () => {
  assertEquals(factsOf("gpt-4.1").canReason, false);
  assertEquals(factsOf("openai/gpt-5-mini").samplingSupport, "never");
  assertEquals(factsOf("anthropic/claude-3.5-haiku").canReason, false);
  assertEquals(factsOf("claude-sonnet-4-5-20250929").reasoningControl, "budget");
  assertEquals(factsOf("claude-opus-4-8").samplingSupport, "never");
  assertEquals(factsOf("models/gemini-2.5-pro").budget, { min: 128, max: 32_768 });
  assertEquals(factsOf("gemini-3-pro-preview").efforts, ["low", "high"]);
  assertEquals(factsOf("gemini-2.0-flash").canReason, false);
  assertEquals(factsOf("gemini-flash-latest"), UNKNOWN_FACTS);
});

Deno.test("modelFacts() recognises a deployment by the model's id", () => {
  assertEquals(factsOf("production-7", [], "openai/gpt-5-mini").samplingSupport, "never");
  assertEquals(factsOf("production-7"), UNKNOWN_FACTS);
});

Deno.test("modelFacts() prefers the catalog to the family", () => {
  assertEquals(factsOf("production-7", ["temperature", "max_tokens"]).canReason, false);
  const reasoning = factsOf("production-7", ["reasoning", "max_tokens"]);
  assertEquals([reasoning.canReason, reasoning.samplingSupport], [true, "never"]);
  const both = factsOf("gpt-5", ["temperature", "reasoning_effort"]);
  assertEquals([both.canReason, both.samplingSupport], [true, "always"]);
  assertEquals(factsOf("gpt-5.1", ["temperature", "reasoning"]).samplingSupport, "without_reasoning");
  assertEquals(factsOf("gpt-5", ["temperature"]).canReason, false);
});
