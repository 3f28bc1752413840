import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import { GOOGLE_FACTS } from "../../../conversation/models/families/google.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { fieldOf, listIn } from "./google_fields.ts";
import { factsIn } from "../known_facts.ts";

const PENALTIES = ["presencePenalty", "frequencyPenalty"];

/** Source: SamuelZ12/screen-scribe#17. */
const WITH_ONE_CANDIDATE = /(?:^|\/)gemini-(?:[3-9])/;

/**
 * Checks what a generation request may ask of its model: levels and budgets of thinking, penalties, structured output
 * beside functions, media in results of functions, and several candidates. Source: the facts of Google's models; the
 * vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkContentModel(body: JsonObject, model: string): void {
  checkCaches(fieldOf(body, "cachedContent"), model);
  const facts = factsIn(GOOGLE_FACTS, model);
  const config = fieldOf(body, "generationConfig");
  if (isObject(config)) {
    checkPenalties(config, facts, model);
    checkCandidates(config, model);
    const thinking = fieldOf(config, "thinkingConfig");
    if (isObject(thinking)) checkThinking(thinking, facts, model);
    checkFormat(body, config, facts);
  }
  checkResults(body, facts);
}

/** @throws {SimulatedError} If the model has no explicit caches and the value names one. */
export function checkCaches(value: unknown, model: string): void {
  if (value === undefined || factsIn(GOOGLE_FACTS, model).hasExplicitCaches !== false) return;
  throw new SimulatedError(400, `Explicit caching is not supported for ${model}.`);
}

function checkPenalties(config: JsonObject, { hasPenalties }: ModelFacts, model: string): void {
  const isSet = PENALTIES.some((name) => Number(fieldOf(config, name) ?? 0) !== 0);
  if (hasPenalties === false && isSet) throw new SimulatedError(400, `Penalty is not enabled for models/${model}`);
}

function checkCandidates(config: JsonObject, model: string): void {
  const count = fieldOf(config, "candidateCount");
  if (typeof count !== "number" || count <= 1 || !WITH_ONE_CANDIDATE.test(model)) return;
  throw new SimulatedError(400, "Multiple candidates is not enabled for this model");
}

function checkThinking(thinking: JsonObject, facts: ModelFacts, model: string): void {
  const level = fieldOf(thinking, "thinkingLevel");
  const budget = fieldOf(thinking, "thinkingBudget");
  if (facts.canReason === false && (level !== undefined || budget !== undefined)) {
    throw new SimulatedError(400, `Thinking is not enabled for models/${model}`);
  }
  if (typeof level === "string") checkLevel(level, facts);
  if (typeof budget === "number") checkBudget(budget, facts);
}

function checkLevel(level: string, { reasoningControl, efforts }: ModelFacts): void {
  if (reasoningControl === "budget") throw new SimulatedError(400, "Thinking level is not supported for this model.");
  if (efforts === null || efforts.some((each) => each === level.toLowerCase())) return;
  throw new SimulatedError(
    400,
    `Thinking level ${level.toUpperCase()} is not supported for this model. Please retry with other thinking level.`,
  );
}

/** A budget of -1 leaves it to the model. */
function checkBudget(tokens: number, { budget, efforts }: ModelFacts): void {
  if (tokens === 0) {
    if (efforts === null || efforts.includes("none") || efforts.includes("minimal") && budget === null) return;
    throw new SimulatedError(400, "Budget 0 is invalid. This model only works in thinking mode.");
  }
  if (budget === null || tokens === -1 || (tokens >= budget.min && tokens <= budget.max)) return;
  throw new SimulatedError(
    400,
    `The thinking budget ${tokens} is invalid. Please choose a value between ${budget.min} and ${budget.max}.`,
  );
}

function checkFormat(body: JsonObject, config: JsonObject, facts: ModelFacts): void {
  const mimeType = String(fieldOf(config, "responseMimeType") ?? "text/plain");
  if (mimeType === "text/plain" || facts.hasOutputSchemasWithTools !== false) return;
  if (!listIn(body.tools).some((tool) => listIn(fieldOf(tool, "functionDeclarations")).length > 0)) return;
  throw new SimulatedError(400, `Function calling with a response mime type: '${mimeType}' is unsupported`);
}

function checkResults(body: JsonObject, { hasMediaInToolResults }: ModelFacts): void {
  if (hasMediaInToolResults !== false) return;
  for (const content of listIn(body.contents)) {
    for (const part of listIn(content.parts)) {
      const result = fieldOf(part, "functionResponse");
      if (!isObject(result) || listIn(result.parts).length === 0) continue;
      throw new SimulatedError(400, "Multimodal function responses are not supported for this model.");
    }
  }
}
