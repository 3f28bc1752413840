import type { RequestTarget } from "../../../upstream_format.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation, ReasoningRequest, Turn } from "../../../conversation.ts";
import { EFFORT_SHARES, effortForShare, nearestEffort } from "../../../effort.ts";
import type { Names } from "../shared/fields.ts";
import type { ModelTraits } from "./model_traits.ts";

/** The smallest budget that the form allows. */
const LEAST_BUDGET = 1024;

/** What a reply may hold where neither caller nor catalog says. */
const USUAL_MAX_TOKENS = 8192;

/**
 * What a reply that is not streamed may hold where the caller does not say: more would take too long for one answer.
 */
const WHOLE_REPLY_MAX_TOKENS = 32_000;

const THINKING_EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The fields that thinking decides. */
export interface ThinkingPlan {
  /** At least 1; more than the budget. */
  readonly maxTokens: number;
  /** The field `thinking`; null leaves it out. */
  readonly thinking: JsonObject | null;
  /** The field `output_config.effort`; null leaves it out. */
  readonly effort: string | null;
}

/**
 * How the request's wish for reasoning is said to this model.
 *
 * @param turns As they will be written: what they hold can forbid thinking.
 */
export function planThinking(
  conversation: Conversation,
  turns: readonly Turn[],
  target: RequestTarget,
  traits: ModelTraits,
  losses: Names,
): ThinkingPlan {
  const maxTokens = maxTokensFor(conversation, target, losses);
  const { reasoning } = conversation;
  if (reasoning === null) return { maxTokens, thinking: null, effort: null };
  if (traits.thinking === "none") {
    if (reasoning.effort !== "none") losses.add("reasoning");
    return { maxTokens, thinking: null, effort: null };
  }
  if (reasoning.effort === "none" || reasoning.budgetTokens === 0) return off(maxTokens);
  if (reasoning.effort !== null && reasoning.budgetTokens !== null) {
    losses.add(traits.thinking === "adaptive" ? "reasoning_budget" : "reasoning_effort");
  }
  if (reasoning.visible === false && !traits.takesDisplay) losses.add("reasoning_visibility");
  if (traits.thinking === "adaptive") return adaptive(reasoning, maxTokens, traits);
  if (isForbidden(conversation, turns)) {
    losses.add("reasoning");
    return off(maxTokens);
  }
  return enabled(conversation, reasoning, maxTokens, target, traits, losses);
}

function off(maxTokens: number): ThinkingPlan {
  return { maxTokens, thinking: { type: "disabled" }, effort: null };
}

function maxTokensFor(conversation: Conversation, target: RequestTarget, losses: Names): number {
  const limit = target.maxOutputTokens;
  const asked = conversation.maxOutputTokens;
  if (asked === null) {
    const usual = limit ?? USUAL_MAX_TOKENS;
    return conversation.stream ? usual : Math.min(usual, WHOLE_REPLY_MAX_TOKENS);
  }
  if (limit === null || asked <= limit) return Math.max(1, asked);
  losses.add("max_tokens");
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

/**
 * A budget goes neither with a forced call nor with a reply that the caller began, nor into a chain of tool calls whose
 * last turn does not start with thinking. Adaptive thinking goes with all of them.
 * Source: Messages API reference, "Extended thinking", "Thinking with tool use".
 */
function isForbidden({ toolChoice, webSearch }: Conversation, turns: readonly Turn[]): boolean {
  const forcesCall = webSearch?.isForced === true || toolChoice?.kind === "required" || toolChoice?.kind === "tool" ||
    (toolChoice?.kind === "allowed" && toolChoice.mode === "required");
  if (forcesCall) return true;
  const latest = turns.at(-1);
  const answering = latest?.role === "assistant"
    ? latest
    : latest?.parts[0]?.kind === "tool_result"
    ? turns.at(-2)
    : undefined;
  return answering !== undefined && answering.parts[0]?.kind !== "reasoning";
}

function enabled(
  conversation: Conversation,
  reasoning: ReasoningRequest,
  maxTokens: number,
  target: RequestTarget,
  traits: ModelTraits,
  losses: Names,
): ThinkingPlan {
  const share = reasoning.effort === null || reasoning.effort === "none"
    ? EFFORT_SHARES.medium
    : EFFORT_SHARES[reasoning.effort];
  const wanted = Math.max(LEAST_BUDGET, reasoning.budgetTokens ?? Math.floor(maxTokens * share));
  // The budget has to be smaller than the whole, so a small whole grows by what the caller wanted to see.
  const whole = wanted < maxTokens ? maxTokens : Math.min(target.maxOutputTokens ?? Infinity, wanted + maxTokens);
  const room = whole - Math.min(maxTokens, LEAST_BUDGET);
  const budget = wanted < maxTokens ? wanted : Math.max(LEAST_BUDGET, Math.min(wanted, room));
  if (budget >= whole) {
    losses.add("reasoning");
    return off(maxTokens);
  }
  if (whole !== maxTokens && conversation.maxOutputTokens !== null) losses.add("max_tokens");
  const display = reasoning.visible === false ? displayOf(reasoning, traits) : {};
  return { maxTokens: whole, thinking: { type: "enabled", budget_tokens: budget, ...display }, effort: null };
}
