import type { Conversation, Effort, ReasoningRequest } from "../../../neutral/conversation.ts";
import { COMMON_EFFORTS, effortForShare, nearestEffort } from "../../../parts/request/effort.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Writing } from "./writing.ts";

/** Assumed when neither the caller nor the catalog has a limit, to convert budgets. */
const DEFAULT_OUTPUT_TOKENS = 16_384;

/**
 * The efforts of Amazon's models. With a higher one they accept no limit of output tokens, which the gateway depends
 * on. Source: Amazon Nova 2 User Guide, "Extended thinking".
 */
const NOVA_EFFORTS: readonly Effort[] = ["low", "medium"];

/** The requested reasoning in the fields of the model's family. */
export function reasoningFields(
  { reasoning, maxOutputTokens }: Conversation,
  target: RequestTarget,
  { traits, droppedFields }: Writing,
): JsonObject {
  if (reasoning === null) return {};
  const isOff = reasoning.effort === "none" || reasoning.budgetTokens === 0;
  if (traits.reasoning === null) {
    if (!isOff) droppedFields.add("reasoning");
    return {};
  }
  if (reasoning.visible === false && !isOff) droppedFields.add("reasoning_visibility");
  if (reasoning.effort !== null && !isOff && reasoning.budgetTokens !== null) droppedFields.add("reasoning_budget");
  const effort = effortOf(reasoning, maxOutputTokens ?? target.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS);
  if (traits.reasoning === "nova") {
    if (isOff) return { reasoningConfig: { type: "disabled" } };
    return { reasoningConfig: { type: "enabled", maxReasoningEffort: nearestEffort(effort, NOVA_EFFORTS) } };
  }
  // These models always reason.
  if (isOff) droppedFields.add("reasoning");
  return { reasoning_effort: isOff ? "low" : nearestEffort(effort, COMMON_EFFORTS) };
}

function effortOf({ effort, budgetTokens }: ReasoningRequest, limitTokens: number): Effort {
  if (effort !== null) return effort;
  return budgetTokens === null ? "medium" : effortForShare(budgetTokens / limitTokens, COMMON_EFFORTS);
}
