import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, ReasoningRequest, Turn } from "../../../neutral/conversation.ts";
import { requiresCall } from "../../../parts/request/required_call.ts";
import { EFFORT_SHARES, effortForShare, nearestEffort } from "../../../parts/request/effort.ts";
import type { FieldNames } from "../shared/fields.ts";
import { MIN_BUDGET_TOKENS } from "../shared/thinking_budget.ts";
import type { ModelTraits } from "./model_traits.ts";

/** Output limit when neither the caller nor the catalog sets one. */
const DEFAULT_MAX_TOKENS = 8192;

/**
 * Upper bound of the output limit of a reply that is not streamed, when the caller sets none, to limit its duration.
 */
const WHOLE_REPLY_MAX_TOKENS = 32_000;

const THINKING_EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The fields that depend on reasoning. */
export interface ThinkingPlan {
  /** At least 1; larger than the budget. */
  readonly maxTokens: number;
  /** The field `thinking`; null for none. */
  readonly thinking: JsonObject | null;
  /** The field `output_config.effort`; null for none. */
  readonly effort: string | null;
}

/**
 * The fields for the requested reasoning, as the model supports it.
 *
 * @param turns As they will be written: their contents can rule out thinking.
 */
export function planThinking(
  conversation: Conversation,
  turns: readonly Turn[],
  target: RequestTarget,
  traits: ModelTraits,
  droppedFields: FieldNames,
): ThinkingPlan {
  const maxTokens = maxTokensFor(conversation, target, droppedFields);
  const { reasoning } = conversation;
  if (reasoning === null) return { maxTokens, thinking: null, effort: null };
  if (traits.thinking === "none") {
    if (reasoning.effort !== "none") droppedFields.add("reasoning");
    return { maxTokens, thinking: null, effort: null };
  }
  if (reasoning.effort === "none" || reasoning.budgetTokens === 0) return off(maxTokens, traits, droppedFields);
  if (reasoning.effort !== null && reasoning.budgetTokens !== null) {
    droppedFields.add(traits.thinking === "adaptive" ? "reasoning_budget" : "reasoning_effort");
  }
  if (reasoning.visible === false && !traits.takesDisplay) droppedFields.add("reasoning_visibility");
  const isForced = forcesCall(conversation) && traits.forcedCalls === "without_reasoning";
  if (isForced || (traits.thinking === "enabled" && isForbidden(conversation, turns))) {
    droppedFields.add("reasoning");
    return off(maxTokens, traits, droppedFields);
  }
  if (traits.thinking === "adaptive") return adaptive(reasoning, maxTokens, traits);
  return enabled(conversation, reasoning, maxTokens, target, traits, droppedFields);
}

/** Switches thinking off as the model allows it. One that always thinks gets its lowest effort, which is reported. */
function off(maxTokens: number, traits: ModelTraits, droppedFields: FieldNames): ThinkingPlan {
  if (traits.off !== "never") return { maxTokens, thinking: { type: traits.off }, effort: null };
  droppedFields.add("reasoning");
  return { maxTokens, thinking: null, effort: traits.efforts[0] ?? null };
}

function maxTokensFor(conversation: Conversation, target: RequestTarget, droppedFields: FieldNames): number {
  const limit = target.maxOutputTokens;
  const requested = conversation.maxOutputTokens;
  if (requested === null) {
    const defaultLimit = limit ?? DEFAULT_MAX_TOKENS;
    return conversation.stream ? defaultLimit : Math.min(defaultLimit, WHOLE_REPLY_MAX_TOKENS);
  }
  if (limit === null || requested <= limit) return Math.max(1, requested);
  droppedFields.add("max_tokens");
  return limit;
}

function adaptive(reasoning: ReasoningRequest, maxTokens: number, traits: ModelTraits): ThinkingPlan {
  const effort = reasoning.effort ??
    (reasoning.budgetTokens === null ? null : effortForShare(reasoning.budgetTokens / maxTokens, THINKING_EFFORTS));
  return {
    maxTokens,
    thinking: { type: "adaptive", ...displayOf(reasoning, traits) },
    effort: effort === null ? null : nearestEffort(effort, traits.efforts),
  };
}

function displayOf({ visible }: ReasoningRequest, traits: ModelTraits): { display?: string } {
  if (visible === null || !traits.takesDisplay) return {};
  return { display: visible ? "summarized" : "omitted" };
}

/** Whether the caller requires a tool call, or a search. */
export function forcesCall({ toolChoice, webSearch }: Pick<Conversation, "toolChoice" | "webSearch">): boolean {
  return webSearch?.isForced === true || requiresCall(toolChoice);
}

/**
 * True when thinking with a budget is not allowed: with a forced call, with a reply that the caller started, and in a
 * chain of tool calls whose first assistant turn does not start with thinking.
 * Source: Messages API reference, "Extended thinking", "Thinking with tool use".
 */
function isForbidden(conversation: Conversation, turns: readonly Turn[]): boolean {
  if (forcesCall(conversation)) return true;
  // A user turn with results goes on with the chain, also if it has text after them.
  const asked = turns.findLastIndex(({ role, parts }) => role === "user" && parts[0]?.kind !== "tool_result");
  const continued = turns.slice(asked + 1).find(({ role }) => role === "assistant");
  return continued !== undefined && continued.parts[0]?.kind !== "reasoning";
}

function enabled(
  conversation: Conversation,
  reasoning: ReasoningRequest,
  maxTokens: number,
  target: RequestTarget,
  traits: ModelTraits,
  droppedFields: FieldNames,
): ThinkingPlan {
  const share = reasoning.effort === null || reasoning.effort === "none"
    ? EFFORT_SHARES.medium
    : EFFORT_SHARES[reasoning.effort];
  const requestedBudget = Math.max(MIN_BUDGET_TOKENS, reasoning.budgetTokens ?? Math.floor(maxTokens * share));
  // The budget must be smaller than the output limit, so a small limit is raised by the requested budget.
  const outputLimit = requestedBudget < maxTokens
    ? maxTokens
    : Math.min(target.maxOutputTokens ?? Infinity, requestedBudget + maxTokens);
  const room = outputLimit - Math.min(maxTokens, MIN_BUDGET_TOKENS);
  const budget = requestedBudget < maxTokens
    ? requestedBudget
    : Math.max(MIN_BUDGET_TOKENS, Math.min(requestedBudget, room));
  if (budget >= outputLimit) {
    droppedFields.add("reasoning");
    return off(maxTokens, traits, droppedFields);
  }
  if (outputLimit !== maxTokens && conversation.maxOutputTokens !== null) droppedFields.add("max_tokens");
  const display = reasoning.visible === false ? displayOf(reasoning, traits) : {};
  return { maxTokens: outputLimit, thinking: { type: "enabled", budget_tokens: budget, ...display }, effort: null };
}
