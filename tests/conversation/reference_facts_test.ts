import { assert, assertEquals } from "@std/assert";
import { modelFacts } from "../../src/conversation/models/known_models.ts";
import type { ModelFacts } from "../../src/conversation/facts/model_facts.ts";

/** A fact with its value, and the models for which vendors document it. */
type Row = {
  readonly [Fact in keyof ModelFacts]: readonly [Fact, ModelFacts[Fact], readonly string[]];
}[keyof ModelFacts];

/**
 * Copied on 2026-11-27 from a review of the vendors' pages and guides, the price map of BerriAI/litellm 1.110.2, and
 * the profiles of pydantic/pydantic-ai 2.68.0.
 */
const ROWS: readonly Row[] = [
  ["efforts", ["low", "medium", "high", "xhigh", "max"], [
    "gpt-6.2-astra",
    "gpt-6.2-sol",
    "gpt-6.1-sol",
    "gpt-6-astra",
    "claude-fable-5-2",
    "claude-fable-5-1",
    "claude-fable-5",
    "claude-opus-5-5",
    "claude-opus-5",
    "claude-opus-4-8",
    "claude-opus-4-7",
    "claude-sonnet-5-5",
    "claude-sonnet-5",
    "claude-haiku-5-5",
  ]],
  ["efforts", ["none", "low", "medium", "high", "xhigh", "max"], [
    "gpt-6.1-terra",
    "gpt-6-sol",
    "gpt-6-luna",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
  ]],
  ["defaultEffort", "medium", [
    "gpt-6.1-terra",
    "gpt-6-sol",
    "gpt-6-luna",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
    "gpt-5.5",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "claude-opus-5-5",
    "claude-haiku-5-5",
    "gemini-3.6-flash",
  ]],
  ["efforts", ["none", "low", "medium", "high", "xhigh"], [
    "gpt-5.5",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.4-nano",
    "gpt-5.2",
  ]],
  ["efforts", ["medium", "high", "xhigh"], ["gpt-5.5-pro", "gpt-5.4-pro", "gpt-5.2-pro"]],
  ["defaultEffort", "none", ["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.2", "gpt-5.1"]],
  ["efforts", ["none", "low", "medium", "high"], ["gpt-5.1", "grok-4.3"]],
  ["efforts", ["minimal", "low", "medium", "high"], [
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "gemini-3.6-flash",
    "gemini-3.5-flash-lite",
  ]],
  ["defaultEffort", "high", [
    "claude-fable-5-2",
    "claude-fable-5-1",
    "claude-fable-5",
    "claude-opus-5",
    "claude-sonnet-5-5",
    "gemini-4-argon",
    "gemini-4-neon",
    "gemini-4-hydrogen",
    "grok-4.7",
    "grok-4.6",
    "grok-4.5",
  ]],
  ["efforts", ["low", "medium", "high", "max"], ["claude-opus-4-6", "claude-sonnet-4-6"]],
  ["efforts", ["low", "medium", "high"], [
    "claude-opus-4-5",
    "gemini-4-carbon",
    "gemini-4-argon",
    "gemini-3.8-flash",
    "gemini-3.1-pro-preview",
    "grok-4.6",
    "grok-4.5",
  ]],
  ["efforts", ["low", "medium", "high", "xhigh"], ["gemini-4-neon", "gemini-4-hydrogen", "grok-4.7"]],
  ["defaultEffort", "minimal", ["gemini-3.5-flash-lite"]],
  ["efforts", ["none", "low", "high", "max"], ["deepseek-flash", "deepseek-v4-pro"]],
  ["efforts", ["low", "high", "max"], ["kimi-k3.1-pro", "kimi-k3.1-pro-highspeed", "kimi-k3", "glm-5.3"]],
  ["thinkingOff", "never", [
    "claude-fable-5",
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5",
    "claude-opus-5-5",
    "kimi-k3",
    "glm-5.3",
    "grok-4.7",
  ]],
  ["thinkingOff", "between_tools", ["claude-sonnet-5-5"]],
  ["thinkingOff", "disabled", ["claude-opus-5", "claude-sonnet-5", "claude-haiku-5-5", "kimi-k2.6"]],
  ["forcedCalls", "never", [
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-1",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "kimi-k3.1-pro",
  ]],
  ["forcedCalls", "always", ["claude-haiku-5-5", "claude-opus-5", "claude-sonnet-5"]],
  ["forcedCalls", "without_reasoning", [
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
    "deepseek-v4-pro",
  ]],
  ["samplingSupport", "never", [
    "claude-fable-5-2",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-haiku-5-5",
  ]],
  ["samplingSupport", "one", [
    "claude-opus-4-5",
    "claude-opus-4-6",
    "claude-sonnet-4-5",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
  ]],
  ["hasThinkingBudgets", false, [
    "claude-fable-5",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-haiku-5-5",
  ]],
  ["hasSystemTurns", true, [
    "claude-fable-5",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
  ]],
  ["hasSystemTurns", false, ["claude-sonnet-5", "claude-opus-4-7", "claude-opus-4-6", "claude-haiku-4-5"]],
  ["canPrefill", false, ["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-5-5"]],
  ["offEfforts", ["none", "low", "medium", "high"], ["claude-opus-5", "claude-haiku-5-5", "claude-sonnet-5-5"]],
  ["chatTools", "without_reasoning", ["gpt-5.4", "gpt-5.5", "gpt-5.6-terra", "gpt-6-sol", "gpt-6.2-sol"]],
  ["hasChatMaxTokens", false, ["gpt-5.1", "gpt-6.2-sol", "o3"]],
  ["hasChatStop", false, ["gpt-5.6-terra", "o3", "grok-4.7"]],
  ["hasPenalties", false, ["gemini-2.5-flash", "gemini-3.8-flash", "gemini-4-argon", "grok-4.7"]],
  ["hasChatSchemas", false, ["deepseek-v4-pro"]],
  ["hasChatCompletionLimit", false, ["deepseek-v4-pro"]],
  ["reasoningHistory", "tool_turns", ["deepseek-flash", "deepseek-v4-pro"]],
  ["hasInstructionsInInput", true, ["gpt-6.2-sol"]],
];

Deno.test("the facts are those that vendors documented in November 2026", () => {
  let points = 0;
  const different: unknown[] = [];
  for (const [fact, documented, models] of ROWS) {
    for (const model of models) {
      points++;
      const known = modelFacts(model, { id: "own/model", supportedParameters: [] })[fact];
      if (JSON.stringify(comparable(known, model)) !== JSON.stringify(comparable(documented, model))) {
        different.push([model, fact, known, documented]);
      }
    }
  }
  assertEquals(different, []);
  assert(points > 140, `${points} points`);
});

/** Claude's efforts have no `none`: it is the type of `thinking`. */
function comparable(value: unknown, model: string): unknown {
  return Array.isArray(value) && model.startsWith("claude-") ? value.filter((each) => each !== "none") : value;
}
