import type { Balance, BalanceChange } from "./store.ts";

/** The balance after a change. */
export function changedBalance(before: Balance, change: BalanceChange): Balance {
  return { available: before.available + change.available, held: before.held + change.held };
}

/**
 * Whether a change must be refused because it takes a side below zero. A change that adds to a side is accepted, also
 * when the side stays below zero.
 */
export function isShort(before: Balance, change: BalanceChange): boolean {
  const { available, held } = changedBalance(before, change);
  return (available < 0n && change.available < 0n && !change.overdraw) || (held < 0n && change.held < 0n);
}
