import { GOOGLE_FACTS } from "../../conversation/models/families/google.ts";
import { OPENAI_FACTS } from "../../conversation/models/families/openai.ts";
import { isAbsent, isObject } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { factsIn } from "./known_facts.ts";
import { fieldOf } from "./google/google_fields.ts";

/** The effort at which a model of OpenAI works when a request names none; null if it then does not reason. */
function defaultEffort(model: string): string | null {
  const { canReason, defaultEffort: effort } = factsIn(OPENAI_FACTS, model);
  return canReason === true && effort !== "none" ? effort ?? "medium" : null;
}

/** Whether a model of OpenAI never reasons. */
export function neverReasons(model: string): boolean {
  return factsIn(OPENAI_FACTS, model).canReason === false;
}

/** Adds the effort that applies where a chat completion names none. */
export function withChatReasoning(body: JsonObject): JsonObject {
  const effort = defaultEffort(String(body.model));
  return isAbsent(body.reasoning_effort) && effort !== null ? { ...body, reasoning_effort: effort } : body;
}

/** Adds the effort that applies where a request of the responses format names none. */
export function withResponsesReasoning(body: JsonObject): JsonObject {
  const effort = defaultEffort(String(body.model));
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  return isAbsent(reasoning.effort) && effort !== null ? { ...body, reasoning: { ...reasoning, effort } } : body;
}

/** Models of Anthropic that think unless a request switches it off. Source: Anthropic, "Thinking". */
const THINKS = /claude-(?:fable|mythos|(?:opus|sonnet|haiku)-5)/;

/** Adds the thinking that a model of Anthropic does by itself. Its text is not shown. */
export function withMessagesReasoning(body: JsonObject): JsonObject {
  if (!isAbsent(body.thinking) || !THINKS.test(String(body.model))) return body;
  return { ...body, thinking: { type: "adaptive", display: "omitted" } };
}

/** Models of Google that think only on request. Source: Gemini API reference, "Thinking budgets". */
const THINKS_ON_REQUEST = /gemini-2\.5-.*lite/;

/** Adds the thinking that a model of Google does by itself. Its text is not shown. */
export function withContentReasoning(body: JsonObject, model: string): JsonObject {
  if (factsIn(GOOGLE_FACTS, model).canReason !== true || THINKS_ON_REQUEST.test(model)) return body;
  const config = fieldOf(body, "generationConfig");
  const { generation_config: _snake, ...rest } = body;
  const settings = isObject(config) ? config : {};
  const thinking = fieldOf(settings, "thinkingConfig");
  const chosen = isObject(thinking) ? thinking : {};
  const isChosen = ["thinkingLevel", "thinkingBudget"].some((name) => fieldOf(chosen, name) !== undefined);
  if (isChosen) return body;
  const { thinking_config: _inner, ...others } = settings;
  return { ...rest, generationConfig: { ...others, thinkingConfig: { ...chosen, thinkingLevel: "HIGH" } } };
}
