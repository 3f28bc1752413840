import { dollars, number } from "../../format.ts";
import type { Limits } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** The limits of an account or a key in a line; empty without limits. */
export function limitsText({ budget, rpm, tpm, concurrency, models }: Omit<Limits, "name">): string {
  const { perMinute, tokensPerMinute, atOnce, budgetText } = TEXTS.accounts;
  return [
    budget && budgetText(dollars(budget.amount), budget.per),
    rpm && perMinute(number(rpm)),
    tpm && tokensPerMinute(number(tpm)),
    concurrency && atOnce(number(concurrency)),
    models?.join(", "),
  ].filter(Boolean).join(" · ");
}
