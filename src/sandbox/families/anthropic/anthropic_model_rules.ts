import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import { ANTHROPIC_FACTS } from "../../../conversation/models/families/anthropic.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, objectOf, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import { invalidRequest } from "./anthropic_fields.ts";
import { factsIn } from "../known_facts.ts";

const SAMPLING = ["temperature", "top_p", "top_k"];
const OFF = ["disabled", "between_tools"];

/** Accepts a system message in the middle and does not read it. Source: pydantic/pydantic-ai, Claude Sonnet 5. */
const IGNORES_SYSTEM_TURNS = /claude-sonnet-5(?![-.]5)/;

/**
 * Checks what a message request may ask of its model: sampling, thinking, efforts, forced calls, the last turn and
 * system turns. Source: the facts of Anthropic's models; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkMessageModel(body: JsonObject): void {
  const model = String(body.model);
  const facts = factsIn(ANTHROPIC_FACTS, model);
  if (facts.canReason === null) return;
  const sampling = facts.samplingSupport === "never" && SAMPLING.find((name) => !isAbsent(body[name]));
  if (sampling) throw invalidRequest("", `\`${sampling}\` is deprecated for this model.`);
  checkThinking(body, facts, model);
  checkEffort(body, facts);
  checkChoice(body, facts);
  checkTurns(body, facts, model);
  checkOutput(body, facts, model);
}

function checkThinking({ thinking }: JsonObject, facts: ModelFacts, model: string): void {
  if (!isObject(thinking)) return;
  const type = String(thinking.type);
  if (OFF.includes(type)) return checkSwitchedOff(type, facts);
  if (facts.canReason === false) throw invalidRequest("", `'${model}' does not support thinking.`);
  if (type === "enabled" && facts.hasThinkingBudgets === false) {
    throw invalidRequest(
      "",
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and ' +
        '"output_config.effort" to control thinking behavior.',
    );
  }
  if (type === "adaptive" && facts.reasoningControl === "budget") {
    throw invalidRequest("", "adaptive thinking is not supported on this model");
  }
  if (facts.hasThinkingDisplay === false && !isAbsent(thinking.display)) {
    throw invalidRequest(`thinking.${type}.display`, "Extra inputs are not permitted");
  }
}

function checkSwitchedOff(type: string, { thinkingOff }: ModelFacts): void {
  if (thinkingOff === null || thinkingOff === type) return;
  const other = thinkingOff === "never" ? "" : ` Use "thinking.type.${thinkingOff}" instead.`;
  throw invalidRequest("", `"thinking.type.${type}" is not supported for this model.${other}`);
}

function checkEffort(body: JsonObject, { efforts, offEfforts }: ModelFacts): void {
  const effort = objectOf(body.output_config)?.effort;
  if (isAbsent(effort)) return;
  const levels = efforts?.filter((each) => each !== "none") ?? [];
  if (levels.length === 0) throw invalidRequest("", "This model does not support the effort parameter.");
  if (!levels.some((each) => each === effort)) {
    const supported = levels.toSorted().join(", ");
    throw invalidRequest("", `This model does not support effort level '${effort}'. Supported levels: ${supported}.`);
  }
  const type = String(objectOf(body.thinking)?.type);
  if (!OFF.includes(type) || offEfforts === null || offEfforts.some((each) => each === effort)) return;
  throw invalidRequest(
    "",
    `"thinking.type.${type}" is not supported with effort level '${effort}'. Use effort 'high' or below.`,
  );
}

/** Source: can1357/oh-my-pi#12939, which has the whole answer; Messages API reference, "Extended thinking". */
function checkChoice(body: JsonObject, { forcedCalls }: ModelFacts): void {
  const type = objectOf(body.tool_choice)?.type;
  if (type !== "any" && type !== "tool") return;
  if (forcedCalls === "never") {
    throw invalidRequest("tool_choice", 'type "tool" and "any" are not supported for this model.');
  }
  const thinking = objectOf(body.thinking)?.type;
  if (forcedCalls !== "without_reasoning" || isAbsent(thinking) || OFF.includes(String(thinking))) return;
  throw invalidRequest("", "Thinking may not be enabled when tool_choice forces tool use.");
}

function checkTurns(body: JsonObject, { canPrefill, hasSystemTurns }: ModelFacts, model: string): void {
  const turns = objectsOf(body.messages);
  if (hasSystemTurns === false && !IGNORES_SYSTEM_TURNS.test(model) && turns.some(({ role }) => role === "system")) {
    throw invalidRequest("messages", "role 'system' is not supported on this model");
  }
  if (canPrefill !== false || turns.at(-1)?.role !== "assistant") return;
  throw invalidRequest(
    "",
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  );
}

/** Source: Messages API reference, "Structured outputs", models. */
function checkOutput(body: JsonObject, { hasOutputSchemas }: ModelFacts, model: string): void {
  if (hasOutputSchemas !== false) return;
  if (!isAbsent(objectOf(body.output_config)?.format)) {
    throw invalidRequest("", `'${model}' does not support output format.`);
  }
  const strict = objectsOf(body.tools).findIndex((tool) => tool.strict === true);
  if (strict >= 0) throw invalidRequest(`tools.${strict}.custom.strict`, "Extra inputs are not permitted");
}
