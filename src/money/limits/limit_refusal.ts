import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { type Money, writeMoney } from "../../platform/lib/basics/money.ts";
import type { Budget } from "./access_limits.ts";
import type { LimitHolder } from "./limited_caller.ts";

/** A limit that refuses a request now. */
export interface RateRefusal {
  readonly holder: LimitHolder;
  readonly limit: "rpm" | "tpm" | "concurrency";
  /** Its value. */
  readonly value: number;
  /** The tokens that the request may use; 0 unless the limit is `tpm`. */
  readonly tokens: number;
  /** Milliseconds after which the request can succeed. */
  readonly waitMs: number;
}

/** The budget that leaves a request the least. Plain data. */
export interface BudgetLeft extends Budget {
  readonly holder: LimitHolder;
  /** What is neither spent nor reserved; may be below zero. */
  readonly left: Money;
  /** When the next period starts, in Unix milliseconds; null for a total budget. */
  readonly resetAt: number | null;
}

/** Creates the 429 for a request above a limit of rate or concurrency. Source: docs/api/limits.md#rate-and-spending. */
export function rateLimited({ holder, limit, value, tokens, waitMs }: RateRefusal): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const allowed = `the ${holder} allows ${value} ${UNITS[limit]}`;
  const why = limit === "tpm" ? `${allowed}, and the request may use up to ${tokens}` : allowed;
  return new GatewayError("rate_limited", `Rate limit exceeded: ${why}; retry after ${retryAfterSeconds} s`, {
    retryAfterSeconds,
    quota: { holder, limit, value: String(value) },
  });
}

const UNITS: Readonly<Record<RateRefusal["limit"], string>> = {
  rpm: "requests a minute",
  tpm: "tokens a minute",
  concurrency: "open requests",
};

/**
 * Creates the 402 for a request above a budget. Source: docs/api/limits.md#rate-and-spending.
 *
 * @param why What the request may cost: `it may cost up to 0.5 USD`.
 * @param field The field of the request that sets its cost, if there is one.
 */
export function budgetExceeded(budget: BudgetLeft, why: string, field: string | undefined): GatewayError {
  const { holder, amount, left, resetAt } = budget;
  const value = `${writeMoney(amount)} USD ${PERIODS[budget.per]}`;
  const end = resetAt === null ? "it does not reset" : `it resets at ${rfc3339(resetAt)}`;
  const message = `Cannot accept the request: ${why}, and the budget of the ${holder}, ${value}, has ` +
    `${writeMoney(left > 0n ? left : 0n)} USD left; ${end}`;
  const quota = { holder, limit: "budget", value, resetAt } as const;
  return new GatewayError("insufficient_credits", message, { field, quota });
}

const PERIODS: Readonly<Record<Budget["per"], string>> = {
  day: "a day",
  week: "a week",
  month: "a month",
  total: "in total",
};

/** An instant in UTC, without a fraction of a second: `2026-12-01T00:00:00Z`. Source: RFC 3339, 5.6. */
export function rfc3339(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
