import { GatewayError } from "../lib/gateway_error.ts";
import { type Money, writeMoney } from "../lib/money.ts";
import type { Journal } from "../store/journal/journal.ts";
import type { WriteGuard } from "../store/write_health.ts";
import type { ChargeRow } from "./charge.ts";
import { AccountMeter, type AccountMeterOptions, type OpenCall } from "./account_meter.ts";
import { LedgerSchedule } from "./ledger_schedule.ts";

/** The final cost of a call. */
export type Charge = Omit<ChargeRow, "at">;

/** The reservation of a call in progress. */
export interface Reservation {
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
  charge(charge: Charge): void | Promise<void>;
  /** Ends the call without a charge. */
  release(): void;
  /**
   * Sets a listener that is called once if the credit falls below minus the account's largest reservation while the
   * call is open. See docs/money.md.
   */
  onOverdrawn(listener: () => void): void;
}

/** Admits calls that their account can pay for, and charges them at their end. */
export interface Meter {
  /**
   * Admits a call: at once if the balance is known, otherwise as a promise.
   *
   * @param reservation The highest cost of the call, at least zero, or a rule that decides by the balance.
   * @throws {GatewayError} `storage_unavailable` if the store takes no writes; `insufficient_credits` if the
   * reservation exceeds the credit less the other reservations, or if the credit is used up. The credit is the balance
   * and the overdraft of the account.
   */
  admit(accountId: string, reservation: Money | ReservationRule): Admission | Promise<Admission>;
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
   * Writes an account's charges to the ledger. Returns nothing if all are there already, otherwise a promise, which
   * rejects with `storage_unavailable` if the store cannot write them now. Charges that are made meanwhile may not be
   * included.
   */
  settle(accountId: string): void | Promise<void>;
  /** Writes the charges of all accounts to the ledger, as {@linkcode LedgerMeter.settle}. */
  settleAll(): Promise<void>;
}

/** The dependencies and settings of a meter. */
export interface MeterOptions extends Omit<AccountMeterOptions, "journal" | "schedule"> {
  /** Refuses calls whose charge could not be written. Default: none. */
  readonly writeGuard?: WriteGuard;
  /** Makes charges durable before they are in the ledger. Default: none; each charge waits for the ledger. */
  readonly journal?: Journal;
}

const REFRESH_INTERVAL_MS = 1_000;
const MAX_BALANCE_AGE_MS = 5_000;
const MAX_ACCOUNT_METERS = 10_000;

/**
 * A meter over the store. A call waits for the store only if its account had no call for five seconds. Balances are
 * cached, read in the background at most once a second, and updated by the meter's own charges. A call is never refused
 * because of a balance that is older than a second.
 *
 * Reservations never exceed the credit. So an account can be overdrawn by at most what its open calls cost above their
 * reservations, and by what other processes take while calls are open.
 */
export function createMeter(options: MeterOptions): LedgerMeter {
  const meters = new Map<string, AccountMeter>();
  const { journal = null, clock } = options;
  const shared = { ...options, journal, schedule: new LedgerSchedule(clock) };

  function meterOf(accountId: string): AccountMeter {
    let meter = meters.get(accountId);
    if (!meter) {
      if (meters.size >= MAX_ACCOUNT_METERS) dropIdle(meters);
      meter = new AccountMeter(accountId, shared);
      meters.set(accountId, meter);
    }
    return meter;
  }

  async function admitAfterReading(meter: AccountMeter, rule: ReservationRule): Promise<Admission> {
    meter.userCount++;
    try {
      // Read again if others changed the balance during the read; that ends in time.
      do await meter.readBalance(); while (meter.balanceAgeMs === Infinity);
      return admission(meter, reservedIn(meter, rule), options);
    } finally {
      meter.userCount--;
    }
  }

  function admitNow(accountId: string, reservation: Money | ReservationRule): Admission | Promise<Admission> {
    const rule = ruleOf(reservation);
    const meter = meterOf(accountId);
    const { balanceAgeMs: ageMs } = meter;
    if (ageMs >= MAX_BALANCE_AGE_MS) return admitAfterReading(meter, rule);
    let reserved: Reservation;
    try {
      reserved = reservedIn(meter, rule);
    } catch (error) {
      if (ageMs >= REFRESH_INTERVAL_MS) return admitAfterReading(meter, rule);
      throw error;
    }
    // A failure has an effect once the balance is too old to be trusted.
    if (ageMs >= REFRESH_INTERVAL_MS) meter.readBalance().catch(() => {});
    return admission(meter, reserved, options);
  }

  return {
    admit(accountId, reservation) {
      const checked = options.writeGuard?.check();
      return checked instanceof Promise
        ? checked.then(() => admitNow(accountId, reservation))
        : admitNow(accountId, reservation);
    },
    invalidate: (accountId) => meters.get(accountId)?.invalidate(),
    settle: (accountId) => meters.get(accountId)?.settle(),
    async settleAll() {
      await Promise.all([...meters.values()].map((meter) => meter.settle()));
    },
    async flush() {
      await Promise.all([...meters.values()].map((meter) => meter.flush()));
    },
  };
}

/**
 * Reserves a fixed amount, or refuses the call.
 *
 * @throws {RangeError} If the amount is below zero.
 */
export function fixedReservation(amount: Money): ReservationRule {
  if (amount < 0n) throw new RangeError(`Cannot reserve an amount below zero: got ${amount}`);
  const reserved = { amount, outputLimit: null };
  return (spendable) => {
    if (amount <= spendable || amount === 0n) return reserved;
    throw insufficientCredits(`it may cost up to ${writeMoney(amount)} USD`, spendable);
  };
}

/** A 402 with the amount that was needed and the amount that is free. */
export function insufficientCredits(why: string, spendable: Money, field?: string): GatewayError {
  const free = writeMoney(spendable > 0n ? spendable : 0n);
  const message = `Cannot accept the request: ${why}, and the balance that is not reserved is ${free} USD`;
  return new GatewayError("insufficient_credits", message, field === undefined ? {} : { field });
}

function ruleOf(reservation: Money | ReservationRule): ReservationRule {
  return typeof reservation === "bigint" ? fixedReservation(reservation) : reservation;
}

/** A call that costs nothing also needs credit. */
function reservedIn(meter: AccountMeter, rule: ReservationRule): Reservation {
  if (meter.credit <= 0n) {
    throw new GatewayError("insufficient_credits", "Cannot accept the request: the balance is used up");
  }
  return rule(meter.spendable);
}

function admission(
  meter: AccountMeter,
  reserved: Reservation,
  { clock, log }: Pick<MeterOptions, "clock" | "log">,
): Admission {
  let isEnded = false;
  let charged: void | Promise<void>;
  const call: OpenCall = { amount: reserved.amount, onOverdrawn: null };
  meter.userCount++;
  meter.reserve(call);

  /** Nothing is awaited between the end of the reservation and the charge, so no other call is admitted in between. */
  function end(row: ChargeRow | null): void | Promise<void> {
    isEnded = true;
    meter.releaseReservation(call);
    if (row !== null) charged = meter.charge(row);
    meter.userCount--;
    return charged;
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
      return end(amount === 0n ? null : { ...charge, at: clock.now() });
    },
    release() {
      if (!isEnded) void end(null);
    },
    onOverdrawn(listener) {
      if (!isEnded) meter.onOverdrawn(call, listener);
    },
  };
}

/** Evicts the first unused meter. If all are in use, the map grows with the calls in progress. */
function dropIdle(meters: Map<string, AccountMeter>): void {
  for (const [accountId, meter] of meters) {
    if (meter.isIdle) {
      meters.delete(accountId);
      return;
    }
  }
}
