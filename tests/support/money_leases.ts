import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import type { MoneyLeases, SharedBalance } from "../../src/platform/store/money_leases.ts";
import type { Balance, Store } from "../../src/platform/store/store.ts";

/** How long a lease lasts. */
export const DURATION_MS = 30_000;

/** Leases in memory with the rules of the database's function. */
export function leasesOver(store: Store, clock: Clock) {
  const rows = new Map<string, { readonly amount: Money; readonly until: number }>();
  const isAway = { value: false };
  /** Awaited before each demand. */
  const before = { wait: () => Promise.resolve() };
  /** Nothing may wait between this and a change of the rows, as the database locks the account. */
  const withOthers = ({ available, overdraft = 0n }: Balance, holder: string): SharedBalance => {
    let others = 0n;
    for (const [owner, { amount, until }] of rows) if (owner !== holder && until > clock.now()) others += amount;
    return { available, overdraft, others };
  };
  const of = (holder: string): MoneyLeases => ({
    durationMs: DURATION_MS,
    read: async () => withOthers(await store.balance("acme"), holder),
    async lease(_, { kept, wanted, hasSpare }) {
      await before.wait();
      if (isAway.value) throw new Error("the store is away");
      const balance = withOthers(await store.balance("acme"), holder);
      const free = balance.available + balance.overdraft - balance.others - kept - wanted;
      const leased = free < 0n ? kept : kept + wanted + (hasSpare ? free / 16n : 0n);
      if (leased > 0n) rows.set(holder, { amount: leased, until: clock.now() + DURATION_MS });
      else rows.delete(holder);
      return { ...balance, leased };
    },
  });
  return { of, rows, isAway, before };
}
