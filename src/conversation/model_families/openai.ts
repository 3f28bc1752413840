import type { Effort } from "../conversation.ts";
import type { ModelFacts } from "../model_facts.ts";

/**
 * Facts of OpenAI's models by name; the first match applies. Chat models of a reasoning generation do not reason, and
 * the GPT-4o search models reject sampling settings.
 * Source: OpenAI API reference, "reasoning.effort"; guides "Reasoning models" and "Using GPT-5.2".
 */
const FAMILIES: readonly (readonly [name: RegExp, facts: Partial<ModelFacts>])[] = [
  [/^gpt-4o(-mini)?-search/, { canReason: false, samplingSupport: "never" }],
  [/^(gpt-[34]|chatgpt-|gpt-[5-9](\.\d+)?-chat)/, { canReason: false, samplingSupport: "always" }],
  [/^o\d/, reasoning("never", ["low", "medium", "high"], "medium")],
  [/^gpt-5-pro/, reasoning("never", ["high"], "high")],
  [/^gpt-5-codex|^codex/, reasoning("never", ["low", "medium", "high"], "medium")],
  [/^gpt-5(?![.\d])/, reasoning("never", ["minimal", "low", "medium", "high"], "medium")],
  [/^gpt-5\.1-codex-max/, reasoning("never", ["low", "medium", "high", "xhigh"], "medium")],
  [/^gpt-5\.1-codex/, reasoning("never", ["low", "medium", "high"], "medium")],
  [/^gpt-5\.1/, reasoning("without_reasoning", ["none", "low", "medium", "high"], "none")],
  [/^gpt-5\.\d+-pro/, reasoning("never", ["medium", "high", "xhigh"], "medium")],
  [/^gpt-5\.\d+-codex/, reasoning("never", ["low", "medium", "high", "xhigh"], "medium")],
  [/^gpt-5\.2/, reasoning("without_reasoning", ["none", "low", "medium", "high", "xhigh"], "none")],
  [/^gpt-[5-9]/, reasoning("without_reasoning", ["none", "low", "medium", "high", "xhigh"], null)],
];

/** @param name The model's name in lower case, without its maker. */
export function openaiFacts(name: string): Partial<ModelFacts> | null {
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function reasoning(
  samples: ModelFacts["samplingSupport"],
  efforts: readonly Effort[],
  defaultEffort: Effort | null,
): Partial<ModelFacts> {
  return { canReason: true, reasoningControl: "effort", samplingSupport: samples, efforts, defaultEffort };
}
