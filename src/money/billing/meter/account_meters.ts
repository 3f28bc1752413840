import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { SpentReader } from "../../limits/spent_reader.ts";
import type { Journal } from "../../../platform/store/journal/journal.ts";
import { storageUnavailable, type WriteGuard } from "../../../platform/store/write_health.ts";
import { LedgerSchedule } from "../ledger/ledger_schedule.ts";
import { AccountMeter, type AccountMeterOptions } from "./account_meter.ts";

/** The dependencies and settings of a meter. */
export interface MeterOptions extends Omit<AccountMeterOptions, "journal" | "schedule" | "readSpent"> {
  /** Reads what was spent of a budget. Without it, callers with a budget are refused. */
  readonly readSpent?: SpentReader;
  /** Refuses calls whose charge could not be written. Default: none. */
  readonly writeGuard?: WriteGuard;
  /** Makes charges durable before they are in the ledger. Default: none; each charge waits for the ledger. */
  readonly journal?: Journal;
  /** Calls of an account are refused while its oldest charge has waited longer for the ledger. Default: no limit. */
  readonly maxLedgerLagMs?: number | null;
}

/** A balance that is older is read in the background, and none that is older refuses a call. */
export const REFRESH_INTERVAL_MS = 1_000;
/** A call waits for a balance that is older. */
export const MAX_BALANCE_AGE_MS = 5_000;
const MAX_ACCOUNT_METERS = 10_000;
/** A lease that no call used between two looks is returned. */
const LEASE_CHECK_INTERVAL_MS = 3_000;
/** A call during whose reads others change the balance or the budgets so often is refused. */
const MAX_READS = 64;

/** The meters of the accounts that have calls, each of which is used when what it must know is read. */
export class AccountMeters {
  readonly #meters = new Map<string, AccountMeter>();
  readonly #shared: AccountMeterOptions;
  readonly #hasSharedLimits: boolean;
  #stopRenewal = () => {};
  /** Whether other processes have the money or the limits too, so that this one leases parts of them. */
  readonly isShared: boolean;

  constructor(private readonly options: MeterOptions) {
    const { journal = null, readSpent = noReader, shareLeases = null, clock } = options;
    this.#shared = { ...options, journal, readSpent, schedule: new LedgerSchedule(clock) };
    this.#hasSharedLimits = shareLeases !== null;
    this.isShared = this.#hasSharedLimits || (options.leases ?? null) !== null;
    if (this.isShared) this.#renewLater();
  }

  /** The meter of an account, created if it is not known. */
  of(accountId: string): AccountMeter {
    let meter = this.#meters.get(accountId);
    if (meter === undefined) {
      if (this.#meters.size >= MAX_ACCOUNT_METERS) this.#dropIdle();
      meter = new AccountMeter(accountId, this.#shared);
      this.#meters.set(accountId, meter);
    }
    return meter;
  }

  /** The meter of an account; undefined if none was needed. */
  known(accountId: string): AccountMeter | undefined {
    return this.#meters.get(accountId);
  }

  /** Uses a meter without waiting if its balance and the caller's budgets are known, otherwise after reading them. */
  use<T>(caller: LimitedCaller, use: (meter: AccountMeter) => T): MaybePromise<T> {
    const { maxLedgerLagMs = null } = this.options;
    const meter = this.of(caller.accountId);
    if (maxLedgerLagMs !== null && meter.ledgerLagMs > maxLedgerLagMs) throw storageUnavailable();
    const { balanceAgeMs: ageMs } = meter;
    if (ageMs >= MAX_BALANCE_AGE_MS || !meter.limiter.budgets.isLoaded(caller)) return this.useRead(caller, use);
    let used: T;
    try {
      used = use(meter);
    } catch (error) {
      if (isInsufficient(error) && (ageMs >= REFRESH_INTERVAL_MS || this.#dropOldBudgets(meter))) {
        return this.useRead(caller, use);
      }
      throw error;
    }
    // A failure has an effect once the balance is too old to be trusted.
    if (ageMs >= REFRESH_INTERVAL_MS) meter.readBalance().catch(() => {});
    return used;
  }

  /** Reads what is unknown or too old before it calls `use`, which must not wait. */
  async useRead<T>(caller: LimitedCaller, use: (meter: AccountMeter) => T): Promise<T> {
    const meter = this.of(caller.accountId);
    meter.userCount++;
    this.#dropOldBudgets(meter);
    try {
      await meter.readBalance();
      // Others may change the balance or the budgets during a read.
      for (let read = 1; read < MAX_READS; read++) {
        if (meter.balanceAgeMs === Infinity) await meter.readBalance();
        else if (meter.limiter.budgets.isLoaded(caller)) return use(meter);
        else await meter.loadBudgets();
      }
      throw storageUnavailable();
    } finally {
      meter.userCount--;
    }
  }

  /** Writes the charges of all accounts to the ledger; see {@linkcode AccountMeter.settle}. */
  async settleAll(): Promise<void> {
    await Promise.all([...this.#meters.values()].map((meter) => meter.settle()));
  }

  /** Writes all charges and returns all leases, for the end of the process. */
  async flush(): Promise<void> {
    this.#stopRenewal();
    await Promise.all([...this.#meters.values()].map(async (meter) => {
      await meter.flush();
      // The leases end by themselves.
      await meter.renewLease(true).catch(() => {});
      await meter.renewShares(true).catch(() => {});
    }));
  }

  /**
   * Requires that budgets are read again if the leases of others were read too long ago for a refusal. Returns whether
   * any is.
   */
  #dropOldBudgets(meter: AccountMeter): boolean {
    return this.#hasSharedLimits && meter.limiter.leases.dropBudgetsOlderThan(REFRESH_INTERVAL_MS);
  }

  #renewLater(): void {
    this.#stopRenewal = this.options.clock.after(LEASE_CHECK_INTERVAL_MS, () => {
      // A lease that could not be renewed is not used any more, and the next call asks for another.
      for (const meter of this.#meters.values()) {
        meter.renewLease().catch(() => {});
        meter.renewShares().catch(() => {});
      }
      this.#renewLater();
    });
  }

  /** Evicts the first unused meter. If all are in use, the map grows with the calls in progress. */
  #dropIdle(): void {
    for (const [accountId, meter] of this.#meters) {
      if (!meter.isIdle) continue;
      this.#meters.delete(accountId);
      return;
    }
  }
}

const noReader: SpentReader = () => Promise.reject(new Error("The meter has no reader of what was spent"));

function isInsufficient(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "insufficient_credits";
}
