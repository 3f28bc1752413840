import type { JsonEdit } from "../../../../lib/json_edits.ts";
import { type BodyEdits, NO_EDITS } from "../../../body_edits.ts";
import { EFFORTS } from "../../../conversation.ts";
import { nearestEffort } from "../../../effort.ts";
import type { ModelFacts } from "../../../model_facts.ts";
import type { PassThroughRequest } from "../../../pass_through.ts";
import { isObject, numberOrNull, textOf } from "../../../wire_value.ts";

const CONFIGS = ["generationConfig", "generation_config"];
const THINKING_CONFIGS = ["thinkingConfig", "thinking_config"];
const PENALTIES: Readonly<Record<string, string>> = {
  presencePenalty: "presence_penalty",
  presence_penalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  frequency_penalty: "frequency_penalty",
};

/**
 * Leaves out what a model of Google refuses, or changes it to the nearest that it takes: penalties, levels and budgets
 * of thinking. Source: the facts of the model.
 */
export function factEditsOf({ body, facts }: PassThroughRequest): BodyEdits {
  if (facts.canReason !== true && facts.hasPenalties !== false) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields: string[] = [];
  for (const name of CONFIGS) {
    const config = body[name];
    if (!isObject(config)) continue;
    for (const [penalty, dropped] of Object.entries(PENALTIES)) {
      if (facts.hasPenalties !== false || config[penalty] === undefined) continue;
      edits.push({ path: [name, penalty], value: undefined });
      if (config[penalty] !== 0 && config[penalty] !== null) droppedFields.push(dropped);
    }
    for (const inner of THINKING_CONFIGS) addThinking(config[inner], [name, inner], facts, edits, droppedFields);
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields };
}

function addThinking(
  config: unknown,
  path: JsonEdit["path"],
  facts: ModelFacts,
  edits: JsonEdit[],
  droppedFields: string[],
): void {
  if (!isObject(config)) return;
  const levelName = config.thinkingLevel === undefined ? "thinking_level" : "thinkingLevel";
  const budgetName = config.thinkingBudget === undefined ? "thinking_budget" : "thinkingBudget";
  const level = EFFORTS.find((effort) => effort === textOf(config[levelName]).toLowerCase());
  const levels = facts.efforts ?? [];
  if (level !== undefined && levels.length > 0 && !levels.includes(level) && facts.reasoningControl === "effort") {
    edits.push({ path: [...path, levelName], value: nearestEffort(level, levels).toUpperCase() });
    droppedFields.push("reasoning_effort");
  }
  const budget = numberOrNull(config[budgetName]);
  if (budget === null) return;
  if (level !== undefined) {
    edits.push({ path: [...path, budgetName], value: undefined });
    droppedFields.push("reasoning_budget");
  } else if (budget === 0 && !levels.includes("none") && facts.budget !== null) {
    edits.push({ path: [...path, budgetName], value: facts.budget.min });
    droppedFields.push("reasoning_budget");
  }
}
