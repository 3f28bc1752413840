import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import { NO_SLOT } from "../../../platform/lib/collections/slot_set.ts";
import type { LimitsLeft, RatesLeft, SharedDemand } from "../../limits/account_limiter.ts";
import { budgetExceeded, type BudgetLeft } from "../../limits/limit_refusal.ts";
import type { SpentReader } from "../../limits/spent_reader.ts";
import type { LimitedCall, LimitedCaller, LimitHolder, TokenEstimate } from "../../limits/limited_caller.ts";
import { allTokensOf } from "../../../conversation/neutral/usage.ts";
import type { Journal } from "../../../platform/store/journal/journal.ts";
import { storageUnavailable, type WriteGuard } from "../../../platform/store/write_health.ts";
import type { ChargeRow } from "../ledger/charge.ts";
import { AccountMeter, type AccountMeterOptions, type OpenCall } from "./account_meter.ts";
import { CallLease, leasedPartOf, type Lender } from "./call_lease.ts";
import { LedgerSchedule } from "../ledger/ledger_schedule.ts";

/** The final cost of a call. */
export type Charge = Omit<ChargeRow, "at">;

/** The reservation of a call in progress, with the tokens that count towards limits of tokens. */
export interface Reservation extends TokenEstimate {
  /** At least zero and at most the spendable amount. */
  readonly amount: Money;
  /**
   * The output token limit that the vendor must be sent for this amount; null if the caller's own limit or none is
   * sent.
   */
  readonly outputLimit: number | null;
}

/**
 * Decides what a call reserves. Pure: it may be called again with another balance.
 *
 * @param spendable The credit less all reservations; may be below zero.
 * @throws {GatewayError} `insufficient_credits` if the call does not fit, with what would.
 */
export type ReservationRule = (spendable: Money) => Reservation;

/** An admitted call. Only the first call of `charge` or `release` has an effect. */
export interface Admission {
  /** The reservation until the call ends. */
  readonly reserved: Reservation;
  /**
   * Charges the call. Returns nothing if the charge is durable already or its amount is zero, otherwise a promise that
   * resolves once it is durable.
   *
   * @throws {RangeError} If the amount is below zero.
   * @throws {GatewayError} `storage_unavailable` if the store cannot write the charge after several attempts: it is
   * logged as `charge_delayed` and written later. `internal_error` if the store refuses it; logged as `charge_lost`.
   */
  charge(charge: Charge): MaybePromise<void>;
  /**
   * Ends the call without a charge of this admission.
   *
   * @param tokens The tokens that it used, if its charge was written with its work. Default: none.
   */
  release(tokens?: number): void;
  /**
   * Sets a listener that is called once if the credit falls below minus the account's largest reservation while the
   * call is open. See docs/money.md.
   */
  onOverdrawn(listener: () => void): void;
}

/** What a caller can reserve. Plain data. */
export interface Allowance {
  /** The credit, or a budget if it has less left, without what is reserved; may be below zero. */
  readonly spendable: Money;
  /** The budget that decides; null if the credit does. */
  readonly budget: BudgetLeft | null;
}

/** Admits calls that their account can pay for and that no limit forbids, and charges them at their end. */
export interface Meter {
  /**
   * Admits a request: at once if the balance and the budgets are known, otherwise as a promise. Money, rate, tokens and
   * concurrency are taken together, or nothing is.
   *
   * @param reservation The highest cost of the call, at least zero, or a rule that decides by the balance.
   * @throws {GatewayError} `storage_unavailable` if the store takes no writes; `insufficient_credits` if the
   * reservation exceeds the credit or a budget less the other reservations, or if the credit is used up. The credit is
   * the balance and the overdraft of the account. `rate_limited` if a limit of the key or the account is reached.
   */
  admit(caller: LimitedCaller, reservation: Money | ReservationRule): MaybePromise<Admission>;
  /** Admits a request that costs nothing, whatever the balance, by the limits of rate and concurrency alone. */
  admitFree(caller: LimitedCaller): MaybePromise<Admission>;
  /**
   * Checks a request as {@linkcode Meter.admit} does, and takes nothing.
   *
   * @param reservation Null for a request that costs nothing, as {@linkcode Meter.admitFree}.
   * @returns What the request would reserve.
   * @throws {GatewayError} As {@linkcode Meter.admit}; as a rejection.
   */
  probe(caller: LimitedCaller, reservation: Money | ReservationRule | null): Promise<Reservation>;
  /** Reserves money, as {@linkcode Meter.admit}, for work that is no request: it takes no rate and is always open. */
  reserve(caller: LimitedCaller, reservation: Money | ReservationRule): MaybePromise<Admission>;
  /**
   * Returns what a caller can reserve now.
   *
   * @throws {GatewayError} As {@linkcode Meter.admit}, without a refusal for a reservation.
   */
  allowance(caller: LimitedCaller): MaybePromise<Allowance>;
  /** Must be called after an account's balance was changed elsewhere: the next call reads it. */
  invalidate(accountId: string): void;
  /**
   * Writes all charges to the ledger, for the end of the process. Those that the store refuses are logged: as
   * `charge_in_journal` if the next start replays them, otherwise as `charge_lost`.
   */
  flush(): Promise<void>;
}

/** A meter over a store. */
export interface LedgerMeter extends Meter {
  /**
   * Admits a request whose money is held already, whatever the balance, by the limits of rate, tokens and concurrency.
   *
   * @param reserved What the caller of this function has checked against the hold. Its amount is not reserved again.
   * @throws {GatewayError} `rate_limited`.
   */
  admitHeld(caller: LimitedCaller, reserved: Reservation): MaybePromise<Admission>;
  /** The number of open calls of an account in this process, with those that threads have leased. */
  openCalls(accountId: string): number;
  /** What the open calls of an account have reserved in this process. */
  reserved(accountId: string): Money;
  /** What the limits of rate of a caller have left, the tighter of key and account; null if there are none. */
  ratesLeft(caller: LimitedCaller): RatesLeft | null;
  /**
   * What every limit of a caller has left.
   *
   * @throws {GatewayError} `storage_unavailable` if the spent amount of a budget cannot be read; as a rejection.
   */
  limitsLeft(caller: LimitedCaller): Promise<Readonly<Record<LimitHolder, LimitsLeft>>>;
  /**
   * Writes an account's charges to the ledger. Returns nothing if all are there already, otherwise a promise, which
   * rejects with `storage_unavailable` if the store cannot write them now. Charges that are made meanwhile may not be
   * included.
   */
  settle(accountId: string): MaybePromise<void>;
  /** Writes the charges of all accounts to the ledger, as {@linkcode LedgerMeter.settle}. */
  settleAll(): Promise<void>;
  /**
   * Takes back what threads have leased of an account and do not use, so that what is reserved and open is exact.
   * Returns nothing if they have no lease.
   */
  recall(accountId: string): MaybePromise<void>;
  /** Whether other processes lease money, or of the limit, that refused a call of a caller. */
  isHeldElsewhere(caller: LimitedCaller, refusal: GatewayError): boolean;
  /** Must be called before a refused call is tried again, since others may have returned what it needs. */
  forgetRefusals(caller: LimitedCaller, refusal: GatewayError): void;
  /** Returns what this process leases of the money and the limits of a key and its account and does not use. */
  giveBack(accountId: string, keyId: string): Promise<void>;
  /** Lends parts of accounts to threads. */
  readonly lender: Lender;
}

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

const REFRESH_INTERVAL_MS = 1_000;
const MAX_BALANCE_AGE_MS = 5_000;
const MAX_ACCOUNT_METERS = 10_000;
/** A lease that no call used between two looks is returned. */
const LEASE_CHECK_INTERVAL_MS = 3_000;
/** A call during whose reads others change the balance or the budgets so often is refused. */
const MAX_READS = 64;
/** A call waits for so many demands of others, and then tries with what is leased. */
const MAX_LEASE_WAITS = 64;
/** A call that is overtaken by others so often is refused. */
const MAX_LEASE_ATTEMPTS = 16;

/**
 * A meter over the store. A call waits for the store only if its account had no call for five seconds. Balances are
 * cached, read in the background at most once a second, and updated by the meter's own charges. A call is never refused
 * because of a balance that is older than a second.
 *
 * Reservations never exceed the credit. So an account can be overdrawn by at most what its open calls cost above their
 * reservations, and by what other processes take while calls are open. Processes that lease money from one store take
 * nothing from each other.
 */
export function createMeter(options: MeterOptions): LedgerMeter {
  const meters = new Map<string, AccountMeter>();
  const { journal = null, clock, maxLedgerLagMs = null, leases = null, shareLeases = null } = options;
  const isShared = leases !== null || shareLeases !== null;
  const readSpent = options.readSpent ?? noReader;
  const shared = { ...options, journal, readSpent, schedule: new LedgerSchedule(clock) };

  function meterOf(accountId: string): AccountMeter {
    let meter = meters.get(accountId);
    if (!meter) {
      if (meters.size >= MAX_ACCOUNT_METERS) dropIdle(meters);
      meter = new AccountMeter(accountId, shared);
      meters.set(accountId, meter);
    }
    return meter;
  }

  /** Reads what is unknown or too old before it calls `use`, which must not wait. */
  async function afterReading<T>(caller: LimitedCaller, use: (meter: AccountMeter) => T): Promise<T> {
    const meter = meterOf(caller.accountId);
    meter.userCount++;
    if (shareLeases !== null) meter.limiter.dropBudgetsOlderThan(REFRESH_INTERVAL_MS);
    try {
      await meter.readBalance();
      // Others may change the balance or the budgets during a read.
      for (let read = 1; read < MAX_READS; read++) {
        if (meter.balanceAgeMs === Infinity) await meter.readBalance();
        else if (meter.limiter.isLoaded(caller)) return use(meter);
        else await meter.loadBudgets();
      }
      throw storageUnavailable();
    } finally {
      meter.userCount--;
    }
  }

  function withMoney<T>(caller: LimitedCaller, use: (meter: AccountMeter) => T): MaybePromise<T> {
    const meter = meterOf(caller.accountId);
    if (maxLedgerLagMs !== null && meter.ledgerLagMs > maxLedgerLagMs) throw storageUnavailable();
    const { balanceAgeMs: ageMs } = meter;
    if (ageMs >= MAX_BALANCE_AGE_MS || !meter.limiter.isLoaded(caller)) return afterReading(caller, use);
    let used: T;
    try {
      used = use(meter);
    } catch (error) {
      if (isInsufficient(error) && (ageMs >= REFRESH_INTERVAL_MS || hasOldBudgets(meter))) {
        return afterReading(caller, use);
      }
      throw error;
    }
    // A failure has an effect once the balance is too old to be trusted.
    if (ageMs >= REFRESH_INTERVAL_MS) meter.readBalance().catch(() => {});
    return used;
  }

  /** Checks that the store takes writes first. */
  function guarded<T>(act: () => MaybePromise<T>): MaybePromise<T> {
    return chain(options.writeGuard?.check(), act);
  }

  function admitNow(caller: LimitedCaller, rule: ReservationRule, purpose: Purpose): MaybePromise<Admission> {
    const isRequest = purpose !== "work";
    let demand: SharedDemand | null = null;
    const admit = (meter: AccountMeter): Admission | null => {
      const reserved = reservedIn(meter, caller, rule);
      if (isShared) {
        demand = { ...reserved, isRequest };
        if (!meter.covers(reserved.amount) || !meter.limiter.covers(caller, demand)) return null;
      }
      if (purpose === "probe") return probed(meter, caller, reserved);
      const tokenLeases = isRequest ? meter.limiter.take(caller, reserved) : null;
      return admission(meter, reserved, { keyId: caller.keyId, tokenLeases }, options);
    };
    const admitted = withMoney(caller, admit);
    if (!isShared) return admitted as MaybePromise<Admission>;
    const lease = async (meter: AccountMeter) => {
      if (demand === null) return;
      if (!meter.covers(demand.amount)) await meter.lease(demand.amount);
      await meter.leaseShares(caller, demand);
    };
    const orLeased = (one: Admission | null) => one ?? leased(caller, lease, () => withMoney(caller, admit));
    return chain(admitted, orLeased);
  }

  /**
   * Leases what a call needs that was not admitted, and tries again. Calls at one time share the first demands. If
   * these do not cover all of them, each has its own, in turn, so that what is free goes to as many as it covers.
   *
   * @param admit Null if the lease does not cover the call.
   */
  async function leased(
    caller: LimitedCaller,
    lease: (meter: AccountMeter) => Promise<void>,
    admit: (meter: AccountMeter) => MaybePromise<Admission | null>,
  ): Promise<Admission> {
    const meter = meterOf(caller.accountId);
    const tryOnce = async () => {
      await lease(meter).catch((failure) => {
        throw failure instanceof GatewayError ? failure : storageUnavailable(failure);
      });
      // Another call's demand replaces the lease, which covers nothing meanwhile.
      for (let wait = 0; wait < MAX_LEASE_WAITS; wait++) {
        const pending = meter.pendingLease(caller);
        if (pending === null) break;
        await pending.catch(() => {});
      }
      return await admit(meter);
    };
    meter.userCount++;
    try {
      return await tryOnce() ?? await meter.inTurn(async () => {
        for (let attempt = 0; attempt < MAX_LEASE_ATTEMPTS; attempt++) {
          const admitted = await tryOnce();
          if (admitted !== null) return admitted;
        }
        throw storageUnavailable();
      });
    } finally {
      meter.userCount--;
    }
  }

  /** Whether the leases of budgets by others were read so long ago that they are read again before a refusal. */
  function hasOldBudgets(meter: AccountMeter): boolean {
    return shareLeases !== null && meter.limiter.dropBudgetsOlderThan(REFRESH_INTERVAL_MS);
  }

  /** What is lent must be within the lease of this process, if others have the balance too. */
  const lender: Lender = {
    lend(caller, need) {
      const meter = meterOf(caller.accountId);
      const free = meter.balanceAgeMs < MAX_BALANCE_AGE_MS ? meter.lendable(caller) : null;
      const units = free && leasedPartOf(free, need);
      if (units === null || !meter.covers(units.money)) return null;
      const lease = new CallLease(caller, meter.limiter.bucketsOf(caller));
      meter.lend(lease, units);
      return { lease, units };
    },
    lendMore(lease, need, parts) {
      const meter = meterOf(lease.caller.accountId);
      const free = meter.balanceAgeMs < MAX_BALANCE_AGE_MS ? meter.lendable(lease.caller) : null;
      if (meter.balanceAgeMs >= REFRESH_INTERVAL_MS) meter.readBalance().catch(() => {}); // the next one finds it
      const units = free && leasedPartOf(free, need, parts);
      if (units === null || !meter.covers(units.money)) return null;
      meter.lend(lease, units);
      return units;
    },
    spendable: (caller) => meterOf(caller.accountId).lendable(caller)?.money ?? 0n,
    takeBack: (lease, use) => meterOf(lease.caller.accountId).takeBack(lease, use),
    endLease: (lease) => meterOf(lease.caller.accountId).endLease(lease),
    chargeGroup: (group) => meterOf(group.account).chargeGroup(group),
  };

  let stopRenewal = () => {};
  function renewLater(): void {
    stopRenewal = clock.after(LEASE_CHECK_INTERVAL_MS, () => {
      // A lease that could not be renewed is not used any more, and the next call asks for another.
      for (const meter of meters.values()) {
        meter.renewLease().catch(() => {});
        meter.renewShares().catch(() => {});
      }
      renewLater();
    });
  }
  if (isShared) renewLater();

  async function probeFree(caller: LimitedCaller): Promise<Reservation> {
    const meter = meterOf(caller.accountId);
    if (!meter.limiter.covers(caller, FREE_REQUEST)) await meter.leaseShares(caller, FREE_REQUEST);
    meter.limiter.check(caller, NO_RESERVATION);
    return NO_RESERVATION;
  }

  /** Admits by the limits of rate, tokens and concurrency alone. */
  function admitUnreserved(caller: LimitedCaller, reserved: Reservation): MaybePromise<Admission> {
    const meter = meterOf(caller.accountId);
    const admitNow = () => {
      const tokenLeases = meter.limiter.take(caller, reserved);
      return admission(meter, reserved, { keyId: caller.keyId, tokenLeases }, options);
    };
    if (shareLeases === null) return admitNow();
    const demand: SharedDemand = { ...reserved, isRequest: true };
    const admit = () => meter.limiter.covers(caller, demand) ? admitNow() : null;
    return admit() ?? leased(caller, () => meter.leaseShares(caller, demand), admit);
  }

  return {
    admit(caller, reservation) {
      const rule = ruleOf(reservation);
      return guarded(() => admitNow(caller, rule, "request"));
    },
    async probe(caller, reservation) {
      if (reservation === null) return await probeFree(caller);
      const rule = ruleOf(reservation);
      return (await guarded(() => admitNow(caller, rule, "probe"))).reserved;
    },
    admitFree: (caller) => admitUnreserved(caller, NO_RESERVATION),
    admitHeld: (caller, reserved) => admitUnreserved(caller, { ...reserved, amount: 0n }),
    reserve(caller, reservation) {
      const rule = ruleOf(reservation);
      return guarded(() => admitNow(caller, rule, "work"));
    },
    allowance: (caller) => guarded(() => withMoney(caller, (meter) => allowanceIn(meter, caller))),
    openCalls: (accountId) => meters.get(accountId)?.openCalls ?? 0,
    reserved: (accountId) => meters.get(accountId)?.reserved ?? 0n,
    ratesLeft: (caller) => caller.limits === null ? null : meterOf(caller.accountId).limiter.ratesLeft(caller),
    limitsLeft: (caller) => afterReading(caller, ({ limiter }) => limiter.limitsLeft(caller)),
    invalidate: (accountId) => meters.get(accountId)?.invalidate(),
    settle: (accountId) => meters.get(accountId)?.settle(),
    recall() {},
    isHeldElsewhere: (caller, refusal) => meters.get(caller.accountId)?.isHeldElsewhere(caller, refusal) ?? false,
    forgetRefusals: (caller, refusal) => meters.get(caller.accountId)?.forgetRefusals(caller, refusal),
    giveBack: async (accountId, keyId) => await meters.get(accountId)?.giveBack(keyId),
    lender,
    async settleAll() {
      await Promise.all([...meters.values()].map((meter) => meter.settle()));
    },
    async flush() {
      stopRenewal();
      await Promise.all([...meters.values()].map(async (meter) => {
        await meter.flush();
        // The leases end by themselves.
        await meter.renewLease(true).catch(() => {});
        await meter.renewShares(true).catch(() => {});
      }));
    },
  };
}

/**
 * Reserves a fixed amount, or refuses the call.
 *
 * @param tokens The tokens that the call may use at most. Default: it uses none.
 * @throws {RangeError} If the amount is below zero.
 */
export function fixedReservation(amount: Money, tokens?: number): ReservationRule {
  if (amount < 0n) throw new RangeError(`Cannot reserve an amount below zero: got ${amount}`);
  const reserved = { amount, outputLimit: null, tokens };
  return (spendable) => {
    if (amount <= spendable || amount === 0n) return reserved;
    throw insufficientCredits(`it may cost up to ${writeMoney(amount)} USD`, spendable);
  };
}

/** A 402 for a request that costs more than its account can reserve. */
export class InsufficientCredits extends GatewayError {
  /**
   * @param why What the request may cost: `it may cost up to 0.5 USD`.
   * @param spendable The amount that is free.
   * @param field The field of the request that sets its cost, if there is one.
   */
  constructor(readonly why: string, spendable: Money, field?: string) {
    const free = writeMoney(spendable > 0n ? spendable : 0n);
    const message = `Cannot accept the request: ${why}, and the balance that is not reserved is ${free} USD`;
    super("insufficient_credits", message, field === undefined ? {} : { field });
  }
}

/** A 402 with the amount that was needed and the amount that is free. */
export function insufficientCredits(why: string, spendable: Money, field?: string): GatewayError {
  return new InsufficientCredits(why, spendable, field);
}

/**
 * Reserves within what a caller can reserve.
 *
 * @throws {GatewayError} What the rule throws. `insufficient_credits` names the budget, if a budget decides.
 */
export function reservedWithin(rule: ReservationRule, { spendable, budget }: Allowance): Reservation {
  if (budget === null) return rule(spendable);
  try {
    return rule(spendable);
  } catch (error) {
    if (error instanceof InsufficientCredits) throw budgetExceeded(budget, error.why, error.details.field);
    throw error;
  }
}

function ruleOf(reservation: Money | ReservationRule): ReservationRule {
  return typeof reservation === "bigint" ? fixedReservation(reservation) : reservation;
}

/** Reserves nothing, neither money nor tokens. */
const NO_RESERVATION: Reservation = { amount: 0n, outputLimit: null };
const FREE_REQUEST: SharedDemand = { amount: 0n, isRequest: true };

/** What is admitted: a request, work that is no request, or nothing, as only its admission is checked. */
type Purpose = "request" | "work" | "probe";

/** Checks the limits of a request without taking anything. */
function probed(meter: AccountMeter, caller: LimitedCaller, reserved: Reservation): Admission {
  meter.limiter.check(caller, reserved);
  return { reserved, charge: () => {}, release: () => {}, onOverdrawn: () => {} };
}

function reservedIn(meter: AccountMeter, caller: LimitedCaller, rule: ReservationRule): Reservation {
  if (caller.limits !== null) return reservedWithin(rule, allowanceIn(meter, caller));
  refuseUsedUp(meter);
  return rule(meter.spendable);
}

function allowanceIn(meter: AccountMeter, caller: LimitedCaller): Allowance {
  refuseUsedUp(meter);
  const { spendable } = meter;
  const budget = meter.limiter.budgetLeft(caller);
  return budget !== null && budget.left < spendable ? { spendable: budget.left, budget } : { spendable, budget: null };
}

/** A call that costs nothing also needs credit. */
function refuseUsedUp(meter: AccountMeter): void {
  if (meter.credit > 0n) return;
  throw new GatewayError("insufficient_credits", "Cannot accept the request: the balance is used up");
}

function isInsufficient(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "insufficient_credits";
}

function admission(
  meter: AccountMeter,
  reserved: Reservation,
  { keyId, tokenLeases }: Pick<LimitedCall, "keyId" | "tokenLeases">,
  { store, log }: Pick<MeterOptions, "store" | "log">,
): Admission {
  let isEnded = false;
  let charged: MaybePromise<void>;
  const call: OpenCall = { amount: reserved.amount, keyId, tokenLeases, onOverdrawn: null, slot: NO_SLOT };
  meter.userCount++;
  meter.open(call);

  /** Nothing is awaited between the end of the reservation and the charge, so no other call is admitted in between. */
  function end(row: ChargeRow | null, tokens: number): void {
    isEnded = true;
    meter.close(call, row === null ? 0n : row.amount, tokens);
    if (row !== null) charged = meter.charge(row);
    meter.userCount--;
  }

  return {
    reserved,
    charge(charge) {
      const { amount, requestId } = charge;
      if (amount < 0n) return Promise.reject(new RangeError(`Cannot charge an amount below zero: got ${amount}`));
      if (isEnded) {
        log.error("charge_ignored", { accountId: meter.account, requestId, reason: "the call had ended" });
        return charged;
      }
      end(amount === 0n ? null : { ...charge, at: store.now() }, allTokensOf(charge.usage));
      return charged;
    },
    release(tokens = 0) {
      if (!isEnded) end(null, tokens);
    },
    onOverdrawn(listener) {
      if (!isEnded) meter.onOverdrawn(call, listener);
    },
  };
}

const noReader: SpentReader = () => Promise.reject(new Error("The meter has no reader of what was spent"));

/** Evicts the first unused meter. If all are in use, the map grows with the calls in progress. */
function dropIdle(meters: Map<string, AccountMeter>): void {
  for (const [accountId, meter] of meters) {
    if (meter.isIdle) {
      meters.delete(accountId);
      return;
    }
  }
}
