import type { MetricFamily } from "../lib/basics/metric_family.ts";
import type { MoneyLeases } from "./money_leases.ts";
import type { ShareLeases } from "./share_leases.ts";
import type { JobStore } from "./store.ts";
import type { WriteGuard } from "./write_health.ts";

/** Accounts with new ledger entries. */
export interface ChargedAccounts {
  readonly accounts: readonly string[];
  /** Unix milliseconds of the engine. The next read can begin here, as all earlier entries are included. */
  readonly until: number;
}

/**
 * A store with the operations of the process that opened it. The other parts of the gateway only use {@linkcode Store},
 * and those that have jobs {@linkcode JobStore}.
 */
export interface StoreEngine extends JobStore {
  /** Finishes commits in progress, then closes the engine. Later calls reject. */
  close(): Promise<void>;
  /**
   * Publishes the address of the running gateway to commands that find the store in use; null withdraws it. An engine
   * without such commands ignores it.
   */
  publishAddress(address: string | null): Promise<void>;
  /**
   * Wakes the listeners of all kinds with overdue jobs, in case a wake-up was lost. Called every minute. Returns the
   * number of kinds.
   */
  wakeOverdueJobs(): Promise<number>;
  /** Leases of money, if other processes spend it too; absent for an engine of one process. */
  readonly moneyLeases?: MoneyLeases;
  /** Leases of limits, if other processes have them too; absent for an engine of one process. */
  readonly shareLeases?: ShareLeases;
  /**
   * The accounts whose ledgers got entries since a time, by any process, and the present time; no accounts for null.
   * Absent for an engine of one process. Rejects as the store does.
   */
  chargedAccounts?(since: number | null): Promise<ChargedAccounts>;
  /** The gateways that use the store now, with this one. Absent for an engine of one process. */
  readonly gateways?: () => number;
  /**
   * Runs work while no other process runs work by this method, after theirs. Absent for an engine of one process.
   * Rejects as the store does, or as the work.
   */
  exclusively?<T>(work: () => Promise<T>): Promise<T>;
  /** Refuses new paid work while the store takes no writes. */
  readonly writeGuard: WriteGuard;
  /**
   * How far the engine's clock is ahead of this machine's, in milliseconds. Absent for an engine that uses the latter.
   */
  clockAheadMs?(): number;
  /** Returns measurements of writes, and the numbers of jobs. Reads the index of jobs. */
  metrics(): Promise<readonly MetricFamily[]>;
  /** Whether reads and writes succeed: reads once and, after a failed write, tries a small one. Never rejects. */
  isReady(): Promise<boolean>;
}
