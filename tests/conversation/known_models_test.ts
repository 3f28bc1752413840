import { assert, assertEquals, assertThrows } from "@std/assert";
import { factLayers, modelFacts, type ProviderFacts } from "../../src/conversation/models/known_models.ts";
import { ALIBABA_FACTS } from "../../src/conversation/models/families/alibaba.ts";
import { DEEPSEEK_FACTS } from "../../src/conversation/models/families/deepseek.ts";
import { MOONSHOT_FACTS } from "../../src/conversation/models/families/moonshot.ts";
import { XAI_FACTS } from "../../src/conversation/models/families/xai.ts";
import { ZAI_FACTS } from "../../src/conversation/models/families/zai.ts";
import { UNKNOWN_FACTS } from "../../src/conversation/facts/model_facts.ts";
import { ANTHROPIC_FACTS } from "../../src/conversation/models/families/anthropic.ts";
import { comparableName } from "../../src/conversation/models/families/fact_entry.ts";
import { GOOGLE_FACTS } from "../../src/conversation/models/families/google.ts";
import { OPENAI_FACTS } from "../../src/conversation/models/families/openai.ts";
import { FACT_NAMES } from "../../src/conversation/facts/fact_names.ts";
import { factsSchema, providerFactsSchema } from "../../src/conversation/models/stated_facts.ts";

const FACTS = [
  ...OPENAI_FACTS,
  ...ANTHROPIC_FACTS,
  ...GOOGLE_FACTS,
  ...DEEPSEEK_FACTS,
  ...XAI_FACTS,
  ...MOONSHOT_FACTS,
  ...ZAI_FACTS,
  ...ALIBABA_FACTS,
];

function factsOf(name: string, supportedParameters: readonly string[] = [], id = "own/model") {
  return modelFacts(name, { id, supportedParameters });
}

Deno.test("modelFacts() recognizes a family by the vendor's name of a model, with or without its maker", () => {
  assertEquals(factsOf("gpt-4.1").canReason, false);
  assertEquals(factsOf("openai/gpt-5-mini").samplingSupport, "never");
  assertEquals(factsOf("anthropic/claude-3.5-haiku").canReason, false);
  assertEquals(factsOf("claude-sonnet-4-5-20250929").reasoningControl, "budget");
  assertEquals(factsOf("claude-opus-4-8").samplingSupport, "never");
  assertEquals(factsOf("models/gemini-2.5-pro").budget, { min: 128, max: 32_768 });
  assertEquals(factsOf("gemini-3-pro-preview").efforts, ["low", "high"]);
  assertEquals(factsOf("gemini-2.0-flash").canReason, false);
  assertEquals(factsOf("gemini-flash-latest"), UNKNOWN_FACTS);
  assertEquals(factsOf("llama-4-maverick"), UNKNOWN_FACTS);
});

Deno.test("modelFacts() recognizes a deployment by the model's id", () => {
  assertEquals(factsOf("production-7", [], "openai/gpt-5-mini").samplingSupport, "never");
  assertEquals(factsOf("production-7"), UNKNOWN_FACTS);
});

Deno.test("modelFacts() gives a model without an entry the facts of the newest one of its family", () => {
  for (
    const [unknown, newest] of [
      ["gpt-7-nova", "gpt-6.2-sol"],
      ["claude-opus-6", "claude-opus-5-5"],
      ["gemini-5-xenon", "gemini-4-argon"],
    ]
  ) assertEquals(factsOf(String(unknown)), factsOf(String(newest)));
});

Deno.test("modelFacts() has the rules of a maker's own interface for names without the maker only", () => {
  assertEquals(factsOf("deepseek-v5-max"), factsOf("deepseek-v4-pro"));
  assertEquals(factsOf("deepseek-v4-pro").forcedCalls, "without_reasoning");
  for (const name of ["deepseek-ai/DeepSeek-V4-Pro", "accounts/fireworks/models/kimi-k3"]) {
    assertEquals(factsOf(name), UNKNOWN_FACTS);
  }
  assertEquals(factsOf("openai/gpt-oss-120b").efforts, ["low", "medium", "high"]);
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

Deno.test("modelFacts() prefers what the operator states: the model's facts, then the provider's", () => {
  const facts: ProviderFacts = { "gpt-9*": { samplingSupport: "never", canReason: false }, "*": { canPrefill: true } };
  const entry = { id: "own/model", supportedParameters: ["temperature"], facts: { canReason: true } };
  const stated = modelFacts("gpt-9-nova", entry, { facts });
  assertEquals([stated.samplingSupport, stated.canReason, stated.canPrefill], ["never", true, true]);
  assertEquals(modelFacts("gpt-4.1", { id: "a/b", supportedParameters: [] }, { facts }).samplingSupport, "always");
  const sources = factLayers("gpt-9-nova", entry, { facts }).map(({ source }) => source);
  assertEquals(sources.slice(-4), [
    "supported_parameters of the model",
    'facts of the provider for "gpt-9*"',
    'facts of the provider for "*"',
    "facts of the model",
  ]);
});

Deno.test("comparableName() leaves out makers, regions, dates and builds", () => {
  for (
    const [name, comparable] of [
      ["us.anthropic.claude-opus-4-8-20260514-v1:0", "claude-opus-4-8"],
      ["global.anthropic.claude-sonnet-5-5", "claude-sonnet-5-5"],
      ["claude-haiku-4-5@20251001", "claude-haiku-4-5"],
      ["anthropic/claude-opus-4.8", "claude-opus-4-8"],
      ["claude-sonnet-4-20250514", "claude-sonnet-4"],
      ["gpt-5.1-2025-11-13", "gpt-5.1"],
      ["openai/gpt-5-chat-latest", "gpt-5-chat"],
      ["ft:gpt-4.1-mini:acme::abc123", "gpt-4.1-mini"],
      ["models/gemini-2.5-flash-001", "gemini-2.5-flash"],
      ["gpt-4o-mini", "gpt-4o-mini"],
      ["qwen/qwen3-32b:free", "qwen3-32b"],
    ]
  ) assertEquals(comparableName(String(name)), comparable, name);
});

Deno.test("every entry of facts names its source, the month in which it was read, and comparable names", () => {
  for (const { models, source, seen } of FACTS) {
    assert(source.length > 10 && /^20\d\d-\d\d$/.test(seen), source);
    for (const pattern of models) {
      assertEquals(comparableName(pattern.replaceAll("*", "x")), pattern.replaceAll("*", "x"));
    }
  }
});

Deno.test("facts of the configuration have the fields of ModelFacts, and others are refused", () => {
  assertEquals([...FACT_NAMES.keys()].toSorted(), Object.keys(UNKNOWN_FACTS).toSorted());
  assertEquals(factsSchema.parse({ sampling_support: "never", has_chat_stop: "false" }), {
    samplingSupport: "never",
    hasChatStop: false,
  });
  assertThrows(() => factsSchema.parse({ temperature: false }));
  assertThrows(() => factsSchema.parse({ efforts: ["enormous"] }));
  assertThrows(() => providerFactsSchema.parse({ "gpt *": {} }));
});
