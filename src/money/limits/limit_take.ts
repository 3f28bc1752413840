import type { Money } from "../../platform/lib/basics/money.ts";
import type { AccessLimits } from "./access_limits.ts";
import { type LimitDemand, reservedTokens } from "./limit_check.ts";
import type { HolderState } from "./limit_states.ts";
import type { HeldTokens } from "./limited_caller.ts";

/** How calls end. */
export interface ClosedCalls {
  /** What they are charged. */
  readonly charged: Money;
  /** Unix milliseconds. */
  readonly now: number;
  /** Default: one. */
  readonly calls?: number;
}

/** Uses a request of one holder's limits and reserves its tokens, which are added to `held`. */
export function takeOf({ rpm, tpm }: AccessLimits, { state, estimate, now }: LimitDemand, held: HeldTokens[]): void {
  if (rpm !== undefined) state.requests?.use(1, now);
  if (tpm === undefined || state.tokens === null || estimate.tokens === undefined) return;
  const reserved = state.tokens.reserve(reservedTokens(estimate, tpm));
  held.push({ bucket: state.tokens, reserved });
}

/** Counts calls that are now open, with the money that they reserve. */
export function openIn(state: HolderState, amount: Money, calls = 1): void {
  state.open += calls;
  state.openShare?.reserve(BigInt(calls));
  for (const budget of state.budgets) budget.reserve(amount);
}

/** Counts the end of calls and of their reservation. */
export function closeIn(state: HolderState, amount: Money, { charged, now, calls = 1 }: ClosedCalls): void {
  state.open -= calls;
  state.openShare?.settle(BigInt(calls), 0n);
  for (const budget of state.budgets) budget.settle(amount, charged, now);
}
