import type { StoreEngine } from "./engine.ts";
import type { JobStore, Store } from "./store.ts";

/** Returns a store that has some methods of its own, and passes all others on. */
export function changedStore(store: Store, own: Partial<Store>): Store {
  return {
    limits: store.limits,
    now: () => store.now(),
    get: (keys) => store.get(keys),
    scan: (prefix, options) => store.scan(prefix, options),
    commit: (operation, commit) => store.commit(operation, commit),
    balance: (account) => store.balance(account),
    ledger: (account, options) => store.ledger(account, options),
    take: (bucket, options) => store.take(bucket, options),
    ...own,
  };
}

/** Returns a store with jobs that has some methods of its own, and passes all others on. */
export function changedJobStore(store: JobStore, own: Partial<JobStore>): JobStore {
  return {
    ...changedStore(store, {}),
    ...store.jobLeaseMs !== undefined && { jobLeaseMs: store.jobLeaseMs },
    claim: (kinds, limit, leaseMs) => store.claim(kinds, limit, leaseMs),
    jobDueTimes: (kind, refs) => store.jobDueTimes(kind, refs),
    renew: (jobs, leaseMs) => store.renew(jobs, leaseMs),
    onWake: (listener) => store.onWake(listener),
    ...store.announce !== undefined && { announce: (kind) => store.announce!(kind) },
    ...own,
  };
}

/** Returns an engine that has some methods of its own, and passes all others on. */
export function changedEngine(engine: StoreEngine, own: Partial<JobStore>): StoreEngine {
  return {
    ...changedJobStore(engine, own),
    close: () => engine.close(),
    writeGuard: engine.writeGuard,
    ...engine.moneyLeases !== undefined && { moneyLeases: engine.moneyLeases },
    ...engine.shareLeases !== undefined && { shareLeases: engine.shareLeases },
    ...engine.chargedAccounts !== undefined && { chargedAccounts: (since) => engine.chargedAccounts!(since) },
    ...engine.gateways !== undefined && { gateways: engine.gateways },
    ...engine.exclusively !== undefined && { exclusively: (work) => engine.exclusively!(work) },
    ...engine.clockAheadMs !== undefined && { clockAheadMs: () => engine.clockAheadMs!() },
    publishAddress: (address) => engine.publishAddress(address),
    wakeOverdueJobs: () => engine.wakeOverdueJobs(),
    metrics: () => engine.metrics(),
    isReady: () => engine.isReady(),
  };
}
