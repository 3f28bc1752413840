import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import type { Budget } from "../../money/limits/access_limits.ts";
import { budgetPeriodAt } from "../../money/limits/budget_state.ts";
import type { Holder } from "./holder.ts";
import type { Pass } from "./pass.ts";
import { BUDGET_LEVELS } from "./summary.ts";

/**
 * Sends `budget.reached` for the levels that a budget has reached in its present period, each once in a period. What is
 * held for videos counts, as it does where requests are refused.
 */
export async function checkBudget(pass: Pass, { account, key, name }: Holder, budget: Budget): Promise<void> {
  const { amount, per } = budget;
  const { since, until } = budgetPeriodAt(per, pass.now);
  const { charged, held } = await pass.spentSince(account, key, since);
  const spent = charged + held;
  pass.summary.addSpent({ account, key, name, amount, per, spent, resetsAt: until });
  for (const level of BUDGET_LEVELS) {
    const cause = [account, key ?? "", per, String(since), String(level)];
    const isSent = pass.causes["budget.reached"].keep(cause);
    if (spent * 100n < amount * BigInt(level)) continue;
    pass.summary.addBudget(level);
    if (isSent) continue;
    await pass.announce({
      event: "budget.reached",
      cause,
      account,
      data: {
        account,
        key,
        name,
        level,
        amount: writeMoney(amount),
        per,
        spent: writeMoney(spent),
        resets_at: until === null ? null : secondsOf(until),
      },
      logged: {
        ...key !== null && { keyId: key },
        cost: writeMoney(spent),
        reason: `${level} % of the budget of this ${per === "total" ? "account or key" : per} are spent`,
      },
    });
  }
}
