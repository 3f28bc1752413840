import type { Conversation, ToolChoice } from "../../../neutral/conversation.ts";
import { requiresCall } from "../../../parts/request/required_call.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import { forcedCallPlan, isOwnModel } from "../shared/model_rules.ts";

/**
 * The choice of tools that a model takes: one that cannot be forced decides itself. Reasoning is switched off for a
 * model that takes a forced call only then.
 */
export function takenChoice({ toolChoice, reasoning }: Conversation, target: RequestTarget): ToolChoice | null {
  if (toolChoice === null || !isOwnModel(target) || !requiresCall(toolChoice)) return toolChoice;
  const reasons = target.facts.canReason === true &&
    (reasoning?.effort !== "none" || target.facts.thinkingOff === "never");
  if (forcedCallPlan(target.facts, reasons) !== "auto") return toolChoice;
  return toolChoice.kind === "allowed" ? { ...toolChoice, mode: "auto" } : { kind: "auto" };
}
