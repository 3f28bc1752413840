import type { JsonObject } from "../../../../lib/json_object.ts";
import { LimitLowering, type LoweredLimit, lowerTopLimits, withBudgetLowered } from "../../../lowered_limit.ts";

/** The smallest reasoning budget that this format allows. */
const MIN_THINKING_TOKENS = 1_024;

/** Lowers `max_tokens` and, where needed, the reasoning budget, which must be below it. */
export function lowerLimit(body: JsonObject, most: number): LoweredLimit | null {
  const lowering = new LimitLowering(most);
  lowerTopLimits(body, ["max_tokens"], lowering);
  if (lowering.highest > 0) lowerThinking(body.thinking, lowering);
  return lowering.result();
}

function lowerThinking(thinking: unknown, lowering: LimitLowering): void {
  const { most } = lowering;
  const lowered = withBudgetLowered(thinking, "budget_tokens", lowering);
  if (lowered === null) return;
  if (most <= MIN_THINKING_TOKENS) return lowering.lower("thinking", "thinking", { type: "disabled" });
  const budget = Math.min(most - 1, Math.max(MIN_THINKING_TOKENS, Number(lowered.budget_tokens)));
  lowering.lower("thinking.budget_tokens", "thinking", { ...lowered, budget_tokens: budget });
}
