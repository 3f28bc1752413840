import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, Effort, OutputFormat, Part, ReasoningRequest } from "../../../neutral/conversation.ts";
import { EFFORT_SHARES, effortForShare, nearestEffort } from "../../../parts/request/effort.ts";
import type { ModelFacts } from "../../../facts/model_facts.ts";
import { dialectOf } from "./dialect.ts";

/** Maximum number of stop sequences that the vendor accepts. */
const MAX_STOP_SEQUENCES = 5;

/** Assumed output limit when neither caller nor catalog has one, to convert efforts and budgets. */
const DEFAULT_OUTPUT_TOKENS = 16384;
const MIN_THINKING_TOKENS = 1024;

/** Writes `generationConfig`; null when nothing is set. */
export function writeSettings(
  conversation: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): JsonObject | null {
  const config: JsonObject = {};
  addSampling(config, conversation, target, droppedFields);
  addLimit(config, conversation, target, droppedFields);
  if (conversation.outputFormat !== null && !mustDescribeFormat(conversation, target)) {
    addOutputFormat(config, conversation.outputFormat, target, droppedFields);
  }
  if (conversation.reasoning !== null) {
    const thinking = thinkingConfigFor(conversation.reasoning, conversation.maxOutputTokens, target, droppedFields);
    if (thinking !== null) config.thinkingConfig = thinking;
  }
  addResolution(config, conversation, droppedFields);
  if (conversation.logprobs !== undefined) config.responseLogprobs = true;
  if (conversation.logprobs) config.logprobs = conversation.logprobs;
  return Object.keys(config).length === 0 ? null : config;
}

function addSampling(
  config: JsonObject,
  { sampling }: Conversation,
  { facts }: RequestTarget,
  droppedFields: Set<string>,
): void {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed, stop } = sampling;
  if (temperature !== null) config.temperature = temperature;
  if (topP !== null) config.topP = topP;
  if (topK !== null) config.topK = topK;
  if (facts.hasPenalties === false) {
    if (presencePenalty !== null && presencePenalty !== 0) droppedFields.add("presence_penalty");
    if (frequencyPenalty !== null && frequencyPenalty !== 0) droppedFields.add("frequency_penalty");
  } else {
    if (presencePenalty !== null) config.presencePenalty = presencePenalty;
    if (frequencyPenalty !== null) config.frequencyPenalty = frequencyPenalty;
  }
  // The vendor's seeds are 32-bit integers.
  if (seed !== null && (seed | 0) === seed) config.seed = seed;
  else if (seed !== null) droppedFields.add("seed");
  if (stop.length > 0) config.stopSequences = stop.slice(0, MAX_STOP_SEQUENCES);
  if (stop.length > MAX_STOP_SEQUENCES) droppedFields.add("stop");
}

/**
 * Writes the output limit. It is capped at the model's own, because vendors reject more and agents send one limit to
 * all.
 */
function addLimit(
  config: JsonObject,
  conversation: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): void {
  const { maxOutputTokens: requested } = conversation;
  if (requested === null) return;
  const limit = Math.min(requested, target.maxOutputTokens ?? Infinity);
  if (limit < requested) droppedFields.add("max_tokens");
  config.maxOutputTokens = limit;
}

/** Whether the output format must be described in the instructions: some models reject JSON output beside tools. */
export function mustDescribeFormat({ outputFormat, tools }: Conversation, target: RequestTarget): boolean {
  return outputFormat !== null && tools.length > 0 && target.facts.hasOutputSchemasWithTools === false;
}

/** The instruction for an output format that cannot be set. */
export function describedFormat(format: OutputFormat): string {
  const rule = "Your final answer to the user must be one JSON value and nothing else, without a code fence";
  return format.kind === "json"
    ? `${rule}.`
    : `${rule}, valid against this JSON Schema: ${JSON.stringify(format.schema)}`;
}

function addOutputFormat(
  config: JsonObject,
  format: OutputFormat,
  target: RequestTarget,
  droppedFields: Set<string>,
): void {
  config.responseMimeType = "application/json";
  if (format.kind === "json") return;
  const { schema, isChanged } = dialectOf(target).output(format.schema, format.strict === true);
  if (isChanged) droppedFields.add("output_schema");
  config[target.quirks.has("openapi_schemas") ? "responseSchema" : "responseJsonSchema"] = schema;
}

/**
 * The reasoning settings: a token budget for models that take one, otherwise a level.
 * Source: Gemini API reference, "Thinking".
 */
function thinkingConfigFor(
  reasoning: ReasoningRequest,
  maxOutputTokens: number | null,
  { facts, maxOutputTokens: modelLimit }: RequestTarget,
  droppedFields: Set<string>,
): JsonObject | null {
  if (facts.canReason === false) {
    if (reasoning.effort !== "none") droppedFields.add("reasoning");
    return null;
  }
  const config: JsonObject = {};
  const limit = maxOutputTokens ?? modelLimit ?? DEFAULT_OUTPUT_TOKENS;
  if (facts.reasoningControl === "budget") {
    const budget = budgetFor(reasoning, limit, facts);
    if (budget !== null) config.thinkingBudget = budget;
    if (reasoning.effort === "none" && budget !== 0) droppedFields.add("reasoning");
  } else {
    const level = levelFor(reasoning, limit, facts);
    if (level !== null) config.thinkingLevel = level;
    if (reasoning.effort === "none") droppedFields.add("reasoning");
  }
  if (reasoning.visible !== null && reasoning.effort !== "none") config.includeThoughts = reasoning.visible;
  if (reasoning.effort !== null && reasoning.effort !== "none" && reasoning.budgetTokens !== null) {
    droppedFields.add(facts.reasoningControl === "budget" ? "reasoning_effort" : "reasoning_budget");
  }
  if (Object.keys(config).length > 0) return config;
  // Reasoning was requested without an amount.
  if (facts.reasoningControl !== "budget") droppedFields.add("reasoning");
  else config.thinkingBudget = -1;
  return Object.keys(config).length === 0 ? null : config;
}

const ANY_BUDGET = { min: 1, max: 24_576 };

function budgetFor({ effort, budgetTokens }: ReasoningRequest, limit: number, facts: ModelFacts): number | null {
  const { min, max } = facts.budget ?? ANY_BUDGET;
  if (budgetTokens !== null) return Math.min(Math.max(budgetTokens, min), max);
  if (effort === null) return null;
  if (effort === "none") return facts.efforts?.includes("none") === false ? min : 0;
  return Math.min(Math.max(Math.round(limit * EFFORT_SHARES[effort]), MIN_THINKING_TOKENS), max);
}

/** The levels of an unknown model. They cannot turn reasoning off: `none` is sent as the lowest. */
const LEVELS: readonly Effort[] = ["minimal", "low", "medium", "high"];
const ALL_LEVELS: readonly Effort[] = [...LEVELS, "xhigh"];

function levelFor(reasoning: ReasoningRequest, limit: number, { efforts }: ModelFacts): string | null {
  const effort = reasoning.effort ??
    (reasoning.budgetTokens === null
      ? null
      : effortForShare(reasoning.budgetTokens / limit, ["minimal", "low", "medium", "high"]));
  if (effort === null) return null;
  const levels = (efforts ?? LEVELS).filter((level) => ALL_LEVELS.includes(level));
  return nearestEffort(effort, levels.length > 0 ? levels : LEVELS).toUpperCase();
}

/** Writes the resolution; the vendor has one for all media of a request. */
function addResolution(config: JsonObject, { turns }: Conversation, droppedFields: Set<string>): void {
  const all: string[] = [];
  for (const { parts } of turns) addDetails(parts, all);
  const requested = all.filter((detail) => detail !== "auto");
  if (requested.length === 0) return;
  const details = new Set(all);
  if (details.size > 1 || requested[0] === "original") droppedFields.add("image_detail");
  config.mediaResolution = requested.every((detail) => detail === "low")
    ? "MEDIA_RESOLUTION_LOW"
    : "MEDIA_RESOLUTION_HIGH";
}

function addDetails(parts: readonly Part[], details: string[]): void {
  for (const part of parts) {
    if (part.kind === "image") details.push(part.detail ?? "auto");
    else if (part.kind === "tool_result") addDetails(part.parts, details);
  }
}
