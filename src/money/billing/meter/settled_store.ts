import { changedEngine } from "../../../platform/store/changed_store.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";
import type { Commit } from "../../../platform/store/store.ts";
import type { LedgerMeter } from "./meter.ts";

/**
 * A store whose balances and ledgers include the charges that are only in the journal: before it reads an account's
 * money, or makes a commit that a balance can refuse, it writes the account's charges to the ledger. All parts of the
 * gateway use it except for the meter, which counts those charges itself.
 *
 * If the store refuses writes, reads show the ledger as it is, and such a commit rejects with `storage_unavailable`.
 */
export function settledStore(engine: StoreEngine, meter: Pick<LedgerMeter, "settle">): StoreEngine {
  async function settleIfPossible(account: string): Promise<void> {
    try {
      await meter.settle(account);
    } catch { /* the meter logs and retries */ }
  }

  return changedEngine(engine, {
    async commit(operation, commit) {
      const accounts = accountsThatMayBeShort(commit);
      if (accounts.length > 0) await Promise.all(accounts.map((account) => meter.settle(account)));
      return await engine.commit(operation, commit);
    },
    async balance(account) {
      await settleIfPossible(account);
      return await engine.balance(account);
    },
    async ledger(account, options) {
      await settleIfPossible(account);
      return await engine.ledger(account, options);
    },
  });
}

/** The accounts whose available balance decides on a commit. */
function accountsThatMayBeShort({ changeBalances = [] }: Commit): string[] {
  return changeBalances.filter(({ available, overdraw }) => available < 0n && !overdraw).map(({ account }) => account);
}
