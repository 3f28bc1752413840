import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { ModelFacts } from "./model_facts.ts";
import { FACT_NAMES } from "./fact_names.ts";
import { isObject } from "../neutral/wire_value.ts";

const MAX_STEPS = 6;
const STEP = /^[A-Za-z_][A-Za-z0-9_-]{0,47}$/;

/** What is stated of a model that refuses a field, by the ends of the field's paths in all formats. */
const REFUSED: readonly (readonly [field: RegExp, fact: keyof ModelFacts, value: unknown])[] = [
  [/(?:^|\.)(?:temperature|top_p|top_k|topP|topK|logprobs|top_logprobs|logit_bias)$/, "samplingSupport", "never"],
  [/(?:^|\.)(?:presence_penalty|frequency_penalty|presencePenalty|frequencyPenalty)$/, "hasPenalties", false],
  [/^stop$/, "hasChatStop", false],
  [/^max_tokens$/, "hasChatMaxTokens", false],
  [/^max_completion_tokens$/, "hasChatCompletionLimit", false],
  [/(?:^|\.)budget_tokens$/, "hasThinkingBudgets", false],
  [/^thinking\.display$/, "hasThinkingDisplay", false],
  [/^thinking(?:\.type)?$/, "thinkingOff", "never"],
  [/^tool_choice(?:\.type)?$/, "forcedCalls", "never"],
  [/^response_format(?:\.type)?$/, "hasChatSchemas", false],
  [/^(?:output_config\.format|text\.format|output_format)(?:\.type)?$/, "hasOutputSchemas", false],
  [/^tools$/, "chatTools", "without_reasoning"],
  [/^messages\.role$/, "hasSystemTurns", false],
];

/** Where formats have the effort, which is refused by its value. */
const EFFORT = /^(?:reasoning_effort|reasoning\.effort|output_config\.effort)$/;

/** A field that a vendor refused, as it may be logged and counted. */
export interface RefusedField {
  /** Its path without indexes. */
  readonly path: string;
  /** The fact that keeps the field from the model, as the configuration has it; null if no fact does. */
  readonly fact: string | null;
}

/**
 * Reads the field that a vendor named in a refusal. Null unless it is a path that the request has, or one that the
 * facts know: any other text can repeat the input.
 *
 * @param field As the vendor wrote it, such as `messages.0.role` or `tools[1].type`.
 * @param body The request's members, as the caller sent them.
 * @param facts What is known of the model.
 */
export function refusedFieldOf(field: string, body: JsonObject, facts: ModelFacts): RefusedField | null {
  const steps = field.split(/[.[\]]+/).filter((step) => step !== "" && !/^\d+$/.test(step));
  if (steps.length === 0 || steps.length > MAX_STEPS || !steps.every((step) => STEP.test(step))) return null;
  const path = steps.join(".");
  const fact = factFor(path, facts);
  return fact !== null || hasPath(body, steps) ? { path, fact } : null;
}

function factFor(path: string, { efforts }: ModelFacts): string | null {
  if (EFFORT.test(path)) return `efforts: [${(efforts ?? ["low", "medium", "high"]).join(", ")}]`;
  const [, fact, value] = REFUSED.find(([pattern]) => pattern.test(path)) ?? [];
  return fact === undefined ? null : `${FACT_NAMES.get(fact)}: ${value}`;
}

function hasPath(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (Array.isArray(value)) return value.some((each) => hasPath(each, [step, ...rest]));
  return isObject(value) && Object.hasOwn(value, step) && hasPath(value[step], rest);
}
