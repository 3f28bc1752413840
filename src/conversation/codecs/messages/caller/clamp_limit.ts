import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  type ClampedLimit,
  clampTopLevelLimits,
  LimitClamp,
  withClampedBudget,
} from "../../../contract/clamped_limit.ts";

/** The smallest reasoning budget that this format allows. */
const MIN_THINKING_TOKENS = 1_024;

/** Lowers `max_tokens` and, where needed, the reasoning budget, which must be below it. */
export function clampLimit(body: JsonObject, most: number): ClampedLimit | null {
  const lowering = new LimitClamp(most);
  clampTopLevelLimits(body, ["max_tokens"], lowering);
  if (lowering.largestRequested > 0) lowerThinking(body.thinking, lowering);
  return lowering.result();
}

function lowerThinking(thinking: unknown, lowering: LimitClamp): void {
  const { maxTokens: most } = lowering;
  const lowered = withClampedBudget(thinking, "budget_tokens", lowering);
  if (lowered === null) return;
  if (most <= MIN_THINKING_TOKENS) return lowering.record("thinking", "thinking", { type: "disabled" });
  const budget = Math.min(most - 1, Math.max(MIN_THINKING_TOKENS, Number(lowered.budget_tokens)));
  lowering.record("thinking.budget_tokens", "thinking", { ...lowered, budget_tokens: budget });
}
