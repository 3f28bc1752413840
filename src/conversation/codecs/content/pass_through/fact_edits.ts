import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import { type Effort, EFFORTS } from "../../../neutral/conversation.ts";
import { EFFORT_SHARES, nearestEffort } from "../../../parts/request/effort.ts";
import type { ModelFacts } from "../../../facts/model_facts.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isObject, listOf, numberOrNull, objectsOf, textOf } from "../../../neutral/wire_value.ts";

const CONFIGS = ["generationConfig", "generation_config"];
const THINKING_CONFIGS = ["thinkingConfig", "thinking_config"];
const PENALTIES: Readonly<Record<string, string>> = {
  presencePenalty: "presence_penalty",
  presence_penalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  frequency_penalty: "frequency_penalty",
};

/** The changes of one request so far. */
interface Changes {
  readonly edits: JsonEdit[];
  readonly droppedFields: string[];
}

/**
 * Leaves out what a model of Google refuses, or changes it to the nearest that it takes: penalties, levels and budgets
 * of thinking. Source: the facts of the model.
 */
export function factEditsOf({ body, facts }: PassThroughRequest): BodyEdits {
  const isPlain = facts.hasPenalties !== false && facts.hasOutputSchemasWithTools !== false;
  if (facts.canReason === null && isPlain) return NO_EDITS;
  const changes: Changes = { edits: [], droppedFields: [] };
  const { edits, droppedFields } = changes;
  for (const name of CONFIGS) {
    const config = body[name];
    if (!isObject(config)) continue;
    for (const [penalty, dropped] of Object.entries(PENALTIES)) {
      if (facts.hasPenalties !== false || config[penalty] === undefined) continue;
      edits.push({ path: [name, penalty], value: undefined });
      if (config[penalty] !== 0 && config[penalty] !== null) droppedFields.push(dropped);
    }
    if (facts.hasOutputSchemasWithTools === false && hasFunctions(body)) removeFormat(config, name, changes);
    const limit = numberOrNull(config.maxOutputTokens) ?? numberOrNull(config.max_output_tokens);
    for (const inner of THINKING_CONFIGS) {
      const thinking = config[inner];
      if (isObject(thinking)) addThinking({ config: thinking, path: [name, inner], limit }, facts, changes);
    }
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields };
}

const FORMAT_FIELDS = [
  ...["responseMimeType", "response_mime_type", "responseSchema", "response_schema"],
  ...["responseJsonSchema", "response_json_schema"],
];

/** Output other than plain text is refused beside functions. */
function removeFormat(config: JsonObject, name: string, { edits, droppedFields }: Changes): void {
  const mimeType = textOf(config.responseMimeType ?? config.response_mime_type);
  if (mimeType === "" || mimeType === "text/plain") return;
  for (const field of FORMAT_FIELDS) {
    if (config[field] !== undefined) edits.push({ path: [name, field], value: undefined });
  }
  droppedFields.push("output_format");
}

function hasFunctions({ tools }: JsonObject): boolean {
  return objectsOf(tools).some(({ functionDeclarations, function_declarations: snake }) =>
    listOf(functionDeclarations ?? snake).length > 0
  );
}

/** The settings of thinking in one request, and where they are. */
interface Thinking {
  readonly config: JsonObject;
  readonly path: JsonEdit["path"];
  /** The limit of output tokens; null for none. */
  readonly limit: number | null;
}

function addThinking({ config, path, limit }: Thinking, facts: ModelFacts, { edits, droppedFields }: Changes): void {
  const { thinkingLevel, thinking_level = thinkingLevel, thinkingBudget, thinking_budget = thinkingBudget, ...others } =
    config;
  const level = EFFORTS.find((effort) => effort === textOf(thinking_level).toLowerCase()) ?? null;
  const budget = numberOrNull(thinking_budget);
  const chosen = level === null && budget === null ? null : chosenThinking({ level, budget }, limit, facts);
  if (chosen === null) return;
  edits.push({ path, value: { ...others, ...chosen.config } });
  appendAll(droppedFields, chosen.droppedFields);
}

/** What a request asks for: a level, a budget, or both. */
interface Amount {
  readonly level: Effort | null;
  readonly budget: number | null;
}

/** What the model takes instead, and what is lost; null if it takes the request as it is. */
interface ChosenThinking {
  readonly config: JsonObject;
  readonly droppedFields: readonly string[];
}

function chosenThinking({ level, budget }: Amount, limit: number | null, facts: ModelFacts): ChosenThinking | null {
  if (facts.canReason === false) {
    return { config: {}, droppedFields: level === null && budget === 0 ? [] : ["reasoning"] };
  }
  if (facts.reasoningControl === "budget") return chosenBudget({ level, budget }, limit, facts);
  const levels = facts.efforts ?? [];
  const [lowest] = levels;
  if (level === null) {
    if (budget !== 0 || lowest === undefined || lowest === "none" || lowest === "minimal") return null;
    return { config: { thinkingLevel: lowest.toUpperCase() }, droppedFields: ["reasoning_budget"] };
  }
  const nearest = levels.length === 0 ? level : nearestEffort(level, levels);
  if (nearest === level && budget === null) return null;
  return {
    config: { thinkingLevel: nearest.toUpperCase() },
    droppedFields: [
      ...(nearest === level ? [] : ["reasoning_effort"]),
      ...(budget === null ? [] : ["reasoning_budget"]),
    ],
  };
}

/** A level becomes a budget; beside one it is lost. */
function chosenBudget({ level, budget }: Amount, limit: number | null, facts: ModelFacts): ChosenThinking | null {
  if (budget === null) {
    return level === null
      ? null
      : { config: { thinkingBudget: budgetOfLevel(level, limit, facts) }, droppedFields: [] };
  }
  const nearest = nearestBudget(budget, facts);
  if (level === null && nearest === budget) return null;
  return {
    config: { thinkingBudget: nearest },
    droppedFields: [
      ...(level === null ? [] : ["reasoning_effort"]),
      ...(nearest === budget ? [] : ["reasoning_budget"]),
    ],
  };
}

/** -1 leaves the budget to the model. */
function nearestBudget(budget: number, { budget: range, efforts }: ModelFacts): number {
  if (range === null || budget === -1 || (budget === 0 && efforts?.includes("none") === true)) return budget;
  return Math.min(Math.max(budget, range.min), range.max);
}

/** Assumed length of the reply, to convert a level when the request sets no limit. */
const DEFAULT_OUTPUT_TOKENS = 8_192;

function budgetOfLevel(level: Effort, limit: number | null, facts: ModelFacts): number {
  return nearestBudget(Math.round((limit ?? DEFAULT_OUTPUT_TOKENS) * EFFORT_SHARES[level]), facts);
}
