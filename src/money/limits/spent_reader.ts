import type { Money } from "../../platform/lib/basics/money.ts";

/** What a budget has paid and must still pay for, by the ledger. */
export interface Spent {
  /** Charges and captures in the period. */
  readonly charged: Money;
  /** Holds that are open now, of any period: they are captured in the present period or later. */
  readonly held: Money;
}

/**
 * Reads what was spent from the ledger. Charges that are not in the ledger are added by the caller.
 *
 * @param keyId Null for all keys of the account.
 * @param since Start of the period in Unix milliseconds; 0 for all time.
 * @returns Rejects as the store does.
 */
export type SpentReader = (accountId: string, keyId: string | null, since: number) => Promise<Spent>;
