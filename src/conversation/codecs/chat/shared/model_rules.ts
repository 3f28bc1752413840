import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Effort } from "../../../neutral/conversation.ts";
import type { ModelFacts } from "../../../facts/model_facts.ts";
import { takesSampling } from "../../../parts/request/sampling.ts";
import type { FactTarget } from "../../../contract/upstream_format.ts";
import { listOf, objectOf, textOf } from "../../../neutral/wire_value.ts";

/**
 * Whether the vendor adapts requests itself, so that facts about its models do not apply to requests that pass through:
 * a relay that takes OpenRouter's objects. Facts of a compatible vendor's own models apply to it as well.
 */
export function isRelayed({ facts, quirks }: FactTarget): boolean {
  return quirks.has(facts.hasCompatibleChat === true ? "adapted_requests" : "reasoning_object");
}

/** Whether the facts are those of a compatible vendor's own models, and the vendor holds requests to them. */
export function isOwnModel(target: FactTarget): boolean {
  return target.facts.hasCompatibleChat === true && !isRelayed(target);
}

/** Whether chat completions refuses `stop` at an effort; null is the default of the model. */
export function refusesStop(facts: ModelFacts, effort: Effort | null): boolean {
  return facts.hasChatStop === false && (facts.hasCompatibleChat === true || !takesSampling(facts, effort));
}

/** Whether a chat request asks for a reply that matches a JSON Schema. */
export function wantsSchema({ response_format }: JsonObject): boolean {
  return textOf(objectOf(response_format)?.type) === "json_schema";
}

/** How a forced call is sent to a model that refuses it while it reasons, or at all. */
export type ForcedCallPlan =
  /** As it is. */
  | "forced"
  /** Forced, with reasoning switched off. */
  | "without_reasoning"
  /** The model decides. */
  | "auto";

/**
 * Plans a forced call.
 *
 * @param reasons Whether the model would reason about the request.
 */
export function forcedCallPlan({ forcedCalls, thinkingOff }: ModelFacts, reasons: boolean): ForcedCallPlan {
  if (forcedCalls === "never") return "auto";
  if (forcedCalls !== "without_reasoning" || !reasons) return "forced";
  return thinkingOff === "disabled" ? "without_reasoning" : "auto";
}

/**
 * Adds the reasoning that a model requires of earlier turns with tool calls: an empty one where a message has none.
 * Reasoning that a client returned under its other name is renamed. Source: DeepSeek API documentation, Thinking Mode.
 *
 * @param messages Of a chat request.
 * @returns The same list if nothing is missing.
 */
export function withToolReasoning(messages: readonly unknown[]): readonly unknown[] {
  let isChanged = false;
  const completed: unknown[] = [];
  for (const { turn, hasCalls } of turnsOf(messages)) {
    for (const message of turn) {
      const isMissing = hasCalls && message?.role === "assistant" && typeof message.reasoning_content !== "string";
      isChanged ||= isMissing;
      completed.push(isMissing ? { ...message, reasoning_content: textOf(message.reasoning) } : message);
    }
  }
  return isChanged ? completed : messages;
}

interface MessageTurn {
  readonly turn: (JsonObject | null)[];
  hasCalls: boolean;
}

/** The messages from each message of the user to the next. */
function turnsOf(messages: readonly unknown[]): readonly MessageTurn[] {
  const turns: MessageTurn[] = [{ turn: [], hasCalls: false }];
  for (const entry of messages) {
    const message = objectOf(entry);
    if (message?.role === "user") turns.push({ turn: [], hasCalls: false });
    const current = turns[turns.length - 1];
    if (current === undefined) continue;
    current.turn.push(message);
    current.hasCalls ||= listOf(message?.tool_calls).length > 0;
  }
  return turns;
}
