import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type Effort, EFFORTS } from "../../../neutral/conversation.ts";
import { EFFORT_SHARES } from "../../../parts/request/effort.ts";
import type { MemberChanges } from "../../../parts/request/member_edits.ts";
import type { ModelFacts } from "../../../facts/model_facts.ts";
import { isAbsent, listOf, numberOrNull, objectOf } from "../../../neutral/wire_value.ts";
import { MIN_BUDGET_TOKENS } from "../shared/thinking_budget.ts";

/**
 * Changes the settings of thinking for a model that takes a budget of tokens and no effort, or that does not think.
 * Adaptive thinking becomes a budget where one is allowed, and is left out elsewhere.
 *
 * @returns Whether the model thinks about the changed request.
 */
export function changeToBudget(
  body: JsonObject,
  { canReason, hasThinkingDisplay }: ModelFacts,
  changes: MemberChanges,
): boolean {
  const thinking = objectOf(body.thinking);
  const effort = EFFORTS.find((each) => each === objectOf(body.output_config)?.effort) ?? null;
  const isAdaptive = thinking?.type === "adaptive";
  removeEffort(body, effort, isAdaptive, changes);
  const wantsThinking = isAdaptive || thinking?.type === "enabled";
  if (thinking === null || !wantsThinking) {
    if (thinking?.type === "between_tools") changes.set.thinking = { type: "disabled" };
    return false;
  }
  const { display, ...others } = thinking;
  const budget = isAdaptive ? budgetFor(effort ?? "medium", body) : null;
  if (canReason === false || (isAdaptive && budget === null)) {
    changes.remove.push("thinking");
    changes.droppedFields.push("reasoning");
    return false;
  }
  const losesDisplay = !isAbsent(display) && hasThinkingDisplay === false;
  if (losesDisplay && display === "omitted") changes.droppedFields.push("reasoning_visibility");
  const kept = losesDisplay || isAbsent(display) ? others : { ...others, display };
  if (isAdaptive) {
    removeSampling(body, changes);
    changes.set.thinking = { ...kept, type: "enabled", budget_tokens: budget };
  }
  if (!isAdaptive && losesDisplay) changes.set.thinking = kept;
  return true;
}

/** What a budget excludes. Source: Messages API reference, "Extended thinking", feature compatibility. */
function removeSampling(body: JsonObject, { remove, droppedFields }: MemberChanges): void {
  for (const name of ["temperature", "top_p", "top_k"]) {
    if (isAbsent(body[name]) || body[name] === 1) continue;
    remove.push(name);
    droppedFields.push(name);
  }
}

/** An effort is named unless it becomes a budget. */
function removeEffort(body: JsonObject, effort: Effort | null, isAdaptive: boolean, changes: MemberChanges): void {
  const config = objectOf(body.output_config);
  if (config === null || isAbsent(config.effort)) return;
  const { effort: _effort, ...others } = config;
  if (Object.keys(others).length > 0) changes.set.output_config = others;
  else changes.remove.push("output_config");
  if (effort !== null && !isAdaptive) changes.droppedFields.push("reasoning_effort");
}

/** The budget of an effort; null if the limit is too small for one, or where thinking with a budget is not allowed. */
function budgetFor(effort: Effort, body: JsonObject): number | null {
  const limit = numberOrNull(body.max_tokens);
  const choice = objectOf(body.tool_choice)?.type;
  if (limit === null || limit <= MIN_BUDGET_TOKENS || choice === "any" || choice === "tool") return null;
  if (!maySwitchOn(listOf(body.messages))) return null;
  return Math.max(MIN_BUDGET_TOKENS, Math.floor(limit * EFFORT_SHARES[effort]));
}

/**
 * Whether thinking with a budget may begin here: not in an answer that the caller began, and in a running tool loop
 * only if the last turn of the assistant starts with thinking. Source: Messages API reference, "Extended thinking".
 */
function maySwitchOn(messages: readonly unknown[]): boolean {
  const last = objectOf(messages.at(-1));
  const isLoop = objectOf(listOf(last?.content)[0])?.type === "tool_result";
  const continued = last?.role === "assistant" ? last : isLoop ? objectOf(messages.at(-2)) : null;
  if (continued === null) return true;
  const type = objectOf(listOf(continued.content)[0])?.type;
  return type === "thinking" || type === "redacted_thinking";
}
