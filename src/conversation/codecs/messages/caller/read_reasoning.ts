import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Effort, ReasoningRequest } from "../../../neutral/conversation.ts";
import { EFFORTS } from "../../../neutral/conversation.ts";
import { isObject, numberOrNull } from "../../../neutral/wire_value.ts";

/** Reads `thinking` and `output_config.effort`; null when neither was sent. */
export function readReasoning(body: JsonObject): ReasoningRequest | null {
  const thinking = isObject(body.thinking) ? body.thinking : null;
  const effort = isObject(body.output_config) ? effortIn(body.output_config.effort) : null;
  if (thinking?.type === "disabled") return { effort: "none", budgetTokens: null, visible: null };
  if (thinking === null) return effort === null ? null : { effort, budgetTokens: null, visible: null };
  const budgetTokens = thinking.type === "enabled" ? numberOrNull(thinking.budget_tokens) : null;
  const visible = thinking.display !== "omitted";
  return { effort, budgetTokens, visible, ...(thinking.type === "adaptive" && { isAdaptive: true }) };
}

function effortIn(value: unknown): Effort | null {
  return EFFORTS.find((effort) => effort === value) ?? null;
}

/** Whether a value is the name of an effort. */
export function isEffort(value: unknown): value is Effort {
  return effortIn(value) !== null;
}
