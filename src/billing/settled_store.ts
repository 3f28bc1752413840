import type { StoreEngine } from "../store/engine.ts";
import type { Commit } from "../store/store.ts";
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

  return {
    limits: engine.limits,
    writeGuard: engine.writeGuard,
    now: () => engine.now(),
    get: (keys) => engine.get(keys),
    scan: (prefix, options) => engine.scan(prefix, options),
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
    claim: (kinds, limit, leaseMs) => engine.claim(kinds, limit, leaseMs),
    jobDueTimes: (kind, refs) => engine.jobDueTimes(kind, refs),
    renew: (jobs, leaseMs) => engine.renew(jobs, leaseMs),
    take: (bucket, options) => engine.take(bucket, options),
    onWake: (listener) => engine.onWake(listener),
    publishAddress: (address) => engine.publishAddress(address),
    wakeOverdueJobs: () => engine.wakeOverdueJobs(),
    metrics: () => engine.metrics(),
    isReady: () => engine.isReady(),
    close: () => engine.close(),
  };
}

/** The accounts whose available balance decides on a commit. */
function accountsThatMayBeShort({ changeBalances = [] }: Commit): string[] {
  return changeBalances.filter(({ available, overdraw }) => available < 0n && !overdraw).map(({ account }) => account);
}
