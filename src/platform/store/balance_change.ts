import type { Money } from "../lib/basics/money.ts";
import type { Balance, BalanceChange } from "./store.ts";

/** The balance after a change. */
export function changedBalance(before: Balance, change: BalanceChange): Balance {
  return { ...before, available: before.available + change.available, held: before.held + change.held };
}

/** The balance with another overdraft. */
export function withOverdraft({ available, held }: Balance, overdraft: Money): Balance {
  if (overdraft < 0n) throw new RangeError(`Cannot set an overdraft below zero: got ${overdraft}`);
  return overdraft === 0n ? { available, held } : { available, held, overdraft };
}

/**
 * Whether a change must be refused because it takes a side below its limit: `held` below zero, `available` below minus
 * the overdraft. A change that adds to a side is accepted, also when the side stays below its limit.
 */
export function isShort(before: Balance, change: BalanceChange): boolean {
  const available = before.available + change.available;
  const held = before.held + change.held;
  return (available < 0n && available < -(before.overdraft ?? 0n) && change.available < 0n && !change.overdraw) ||
    (held < 0n && change.held < 0n);
}
