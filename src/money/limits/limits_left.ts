import type { AccessLimits } from "./access_limits.ts";
import type { BudgetLeft } from "./limit_refusal.ts";
import { budgetStateOf, type HolderState } from "./limit_states.ts";
import type { LimitHolder } from "./limited_caller.ts";
import type { RateBucket } from "./rate_bucket.ts";

/** What a limit of rate has left. */
export interface RateLeft {
  readonly limit: number;
  readonly left: number;
  /** Milliseconds until everything is left. */
  readonly fullInMs: number;
}

/** The limits of rate of a caller that leave the least; absent without a limit. */
export interface RatesLeft {
  readonly requests?: RateLeft;
  readonly tokens?: RateLeft;
}

/** What the limits of one holder have left; absent without a limit. The budget must be loaded. */
export interface LimitsLeft extends RatesLeft {
  readonly concurrency?: { readonly limit: number; readonly left: number };
  readonly budget?: BudgetLeft;
}

/**
 * What the budget of one holder has left; null if it has none.
 *
 * @throws {Error} If it is not loaded.
 */
export function budgetLeftOf(
  holder: LimitHolder,
  limits: AccessLimits,
  ofHolder: HolderState | null,
): BudgetLeft | null {
  const { budget } = limits;
  if (budget === undefined) return null;
  const state = budgetStateOf(ofHolder, limits);
  if (state === null) throw new Error("The budget was not loaded");
  return { ...budget, holder, left: state.leftOf(budget), resetAt: state.until };
}

/** What the limits of rate of one holder have left. */
export function ratesLeftOf({ rpm, tpm }: AccessLimits, state: HolderState | null, now: number): RatesLeft {
  return {
    ...(rpm === undefined ? {} : { requests: rateLeftOf(rpm, state?.requests ?? null, now) }),
    ...(tpm === undefined ? {} : { tokens: rateLeftOf(tpm, state?.tokens ?? null, now) }),
  };
}

/** Of the limits of a key and its account those that leave less. */
export function lesserRates(key: RatesLeft, account: RatesLeft): RatesLeft {
  return { ...lessLeft("requests", key, account), ...lessLeft("tokens", key, account) };
}

/**
 * What all limits of one holder have left.
 *
 * @throws {Error} If its budget is not loaded.
 */
export function limitsLeftOf(
  holder: LimitHolder,
  limits: AccessLimits,
  { state, now }: { readonly state: HolderState | null; readonly now: number },
): LimitsLeft {
  const { concurrency } = limits;
  const budget = budgetLeftOf(holder, limits, state);
  return {
    ...ratesLeftOf(limits, state, now),
    ...(concurrency === undefined
      ? {}
      : { concurrency: { limit: concurrency, left: Math.max(0, concurrency - (state?.open ?? 0)) } }),
    ...(budget === null ? {} : { budget }),
  };
}

function rateLeftOf(limit: number, bucket: RateBucket | null, now: number): RateLeft {
  if (bucket === null) return { limit, left: limit, fullInMs: 0 };
  bucket.setLimit(limit, now);
  return { limit, left: bucket.leftAt(now), fullInMs: bucket.fullInMs(now) };
}

function lessLeft(name: keyof RatesLeft, key: RatesLeft, account: RatesLeft): RatesLeft {
  const [one, other] = [key[name], account[name]];
  const less = one !== undefined && other !== undefined && other.left < one.left ? other : one ?? other;
  return less === undefined ? {} : { [name]: less };
}
