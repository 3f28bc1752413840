import type { Effort } from "../conversation.ts";
import type { ModelFacts } from "../model_facts.ts";

/**
 * Facts of Google's models by the generation in their names; null for a name without one. Models of generation 2.5 take
 * a reasoning budget, later ones a level; earlier ones do not reason.
 * Source: Gemini API reference, "Thinking", "Structured output", "Function calling".
 *
 * @param name The model's name in lower case, without its maker.
 */
export function googleFacts(name: string): Partial<ModelFacts> | null {
  const digits = /gemini-(\d+(?:\.\d+)?)/.exec(name)?.[1];
  if (digits === undefined) return null;
  const generation = Number(digits);
  const isPro = /\bpro\b/.test(name);
  const isLatest = generation >= 3;
  const common: Partial<ModelFacts> = {
    hasOutputSchemas: true,
    hasOutputSchemasWithTools: isLatest,
    hasMediaInToolResults: isLatest,
  };
  if (generation < 2.5) return { ...common, canReason: false };
  if (generation < 3) return { ...common, canReason: true, reasoningControl: "budget", ...budgetOf(name, isPro) };
  return { ...common, canReason: true, reasoningControl: "effort", efforts: levelsOf(generation, isPro) };
}

const BUDGET_EFFORTS: readonly Effort[] = ["minimal", "low", "medium", "high"];

/** Pro models cannot switch reasoning off. */
function budgetOf(name: string, isPro: boolean): Partial<ModelFacts> {
  if (isPro) return { efforts: BUDGET_EFFORTS, budget: { min: 128, max: 32_768 } };
  const min = /\blite\b/.test(name) ? 512 : 1;
  return { efforts: ["none", ...BUDGET_EFFORTS], budget: { min, max: 24_576 } };
}

/** Generation 3.0 Pro supports only two levels. */
function levelsOf(generation: number, isPro: boolean): readonly Effort[] {
  if (!isPro) return ["minimal", "low", "medium", "high"];
  return generation === 3 ? ["low", "high"] : ["low", "medium", "high"];
}
