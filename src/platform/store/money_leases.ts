import type { Money } from "../lib/basics/money.ts";

/** The money of an account, and what other processes lease of it. */
export interface SharedBalance {
  readonly available: Money;
  readonly overdraft: Money;
  /** The sum of the leases of other processes. */
  readonly others: Money;
}

/** What a process wants to lease of an account. */
export interface LeaseDemand {
  /** What it has reserved and has charged without the ledger. It is leased whether it is free or not. */
  readonly kept: Money;
  /** What it needs in addition. It is leased whole, or not at all if less is free. */
  readonly wanted: Money;
  /** Whether it gets a sixteenth of what else is free, for the next calls. */
  readonly hasSpare: boolean;
}

/**
 * Leases of the credit of accounts, which several processes spend at once. The credit is the available balance and the
 * overdraft. A process reserves no more than its lease, so together they reserve no more than the credit.
 *
 * A lease ends after `durationMs` unless it is replaced. A process must stop using it earlier, by its own clock.
 */
export interface MoneyLeases {
  /** From the moment when the demand is sent. */
  readonly durationMs: number;
  /** Replaces the lease of this process. A demand of nothing returns it. Rejects as the store does. */
  lease(account: string, demand: LeaseDemand): Promise<SharedBalance & { readonly leased: Money }>;
  /** Reads the balance. Rejects as the store does. */
  read(account: string): Promise<SharedBalance>;
}
