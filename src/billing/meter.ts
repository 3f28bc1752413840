import { GatewayError } from "../lib/gateway_error.ts";
import { type Money, writeMoney } from "../lib/money.ts";
import type { WriteGuard } from "../store/write_health.ts";
import type { ChargeRow } from "./charge.ts";
import { AccountMeter, type AccountMeterOptions, type OpenCall } from "./account_meter.ts";

/** What a call cost in the end. */
export type Charge = Omit<ChargeRow, "at">;

/** What is reserved for a call while it is open. */
export interface Reservation {
  /** From zero, and at most what was spendable. */
  readonly amount: Money;
  /** The limit of output tokens that the vendor must be sent for that; null where the caller's own or none is sent. */
  readonly outputLimit: number | null;
}

/**
 * Decides what a call reserves. Pure: it may be asked again with another balance.
 *
 * @param spendable The balance less all open reservations; may be below zero.
 * @throws {GatewayError} `insufficient_credits` when the call does not fit, saying what would.
 */
export type ReservationRule = (spendable: Money) => Reservation;

/** An admitted call. Of all calls of `charge` and `release`, the first counts. */
export interface Admission {
  /** What is reserved until the call ends. */
  readonly reserved: Reservation;
  /**
   * Charges the call; resolves once that is durable, at once when the amount is zero.
   *
   * @throws {RangeError} If the amount is below zero.
   * @throws {GatewayError} `storage_unavailable` when the store does not take the charge after several tries: it is
   * logged as `charge_delayed` and written later. `internal_error` when the store refuses it; logged as `charge_lost`.
   */
  charge(charge: Charge): Promise<void>;
  /** Ends the call without a charge. */
  release(): void;
  /**
   * Sets what is to be called once, when the account's balance falls below minus its largest open reservation while
   * this call is open. See docs/money.md.
   */
  onOverdrawn(listener: () => void): void;
}

/** Admits calls by what their account can pay, and charges them at their end. */
export interface Meter {
  /**
   * Admits a call: at once when the balance is known, else as a promise.
   *
   * @param reservation What the call may cost at most, from zero, or what decides that by the balance.
   * @throws {GatewayError} `storage_unavailable` when the store takes no writes; `insufficient_credits` when the
   * reservation does not fit into the balance less the account's other open reservations, or when the balance is zero
   * or below.
   */
  admit(accountId: string, reservation: Money | ReservationRule): Admission | Promise<Admission>;
  /** To be called when something else moved an account's money: the balance is read anew before the next call. */
  invalidate(accountId: string): void;
  /** Resolves when every charge so far is durable or lost; for the end of the process. */
  flush(): Promise<void>;
}

/** What a meter works with. */
export interface MeterOptions extends Omit<AccountMeterOptions, "groupDelayMs"> {
  /** Asked before each call: no call is let in whose charge could not be written. Default: nothing is asked. */
  readonly writeGuard?: WriteGuard;
  /** How long a charge waits for others to share its commit; 0, the default, only while a commit is under way. */
  readonly groupDelayMs?: number;
}

const READ_EVERY_MS = 1_000;
const TRUSTED_MS = 5_000;
const MOST_PURSES = 10_000;

/**
 * A meter over the store. No call waits for the store unless its account was not seen for five seconds: balances are
 * mirrored, read anew at most once a second in the background, and in between kept exact by the meter's own charges.
 * A call is never refused by a mirror that is older than a second.
 *
 * Open reservations never exceed the balance, so an account is overdrawn by no more than what its open calls cost
 * beyond their reservations, and by what other processes take from the balance while calls are open.
 */
export function createMeter({ groupDelayMs: lingerMs = 0, ...options }: MeterOptions): Meter {
  const purses = new Map<string, AccountMeter>();

  function purseOf(accountId: string): AccountMeter {
    let purse = purses.get(accountId);
    if (!purse) {
      if (purses.size >= MOST_PURSES) dropIdle(purses);
      purse = new AccountMeter(accountId, { ...options, groupDelayMs: lingerMs });
      purses.set(accountId, purse);
    }
    return purse;
  }

  async function admitAfterReading(purse: AccountMeter, reserve: ReservationRule): Promise<Admission> {
    purse.userCount++;
    try {
      // Read again when the money was moved by others during the read; they do not move it for ever.
      do await purse.readBalance(); while (purse.balanceAgeMs === Infinity);
      return admission(purse, reservedIn(purse, reserve), options);
    } finally {
      purse.userCount--;
    }
  }

  function admitNow(accountId: string, reservation: Money | ReservationRule): Admission | Promise<Admission> {
    const reserve = reserveOf(reservation);
    const purse = purseOf(accountId);
    const { balanceAgeMs: ageMs } = purse;
    if (ageMs >= TRUSTED_MS) return admitAfterReading(purse, reserve);
    let reserved: Reservation;
    try {
      reserved = reservedIn(purse, reserve);
    } catch (error) {
      if (ageMs >= READ_EVERY_MS) return admitAfterReading(purse, reserve);
      throw error;
    }
    // A failure shows itself when the balance becomes too old to be trusted.
    if (ageMs >= READ_EVERY_MS) purse.readBalance().catch(() => {});
    return admission(purse, reserved, options);
  }

  return {
    admit(accountId, reservation) {
      const checked = options.writeGuard?.check();
      return checked instanceof Promise
        ? checked.then(() => admitNow(accountId, reservation))
        : admitNow(accountId, reservation);
    },
    invalidate: (accountId) => purses.get(accountId)?.invalidate(),
    async flush() {
      await Promise.all([...purses.values()].map((purse) => purse.flush()));
    },
  };
}

/**
 * Reserves a fixed amount, or nothing.
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

/** A 402 that says what was to be reserved, and what of the balance is free. */
export function insufficientCredits(why: string, spendable: Money, field?: string): GatewayError {
  const free = writeMoney(spendable > 0n ? spendable : 0n);
  const message = `Cannot accept the request: ${why}, and the balance that is not reserved is ${free} USD`;
  return new GatewayError("insufficient_credits", message, field === undefined ? {} : { field });
}

function reserveOf(reservation: Money | ReservationRule): ReservationRule {
  return typeof reservation === "bigint" ? fixedReservation(reservation) : reservation;
}

/** Also a call that costs nothing needs a balance above zero. */
function reservedIn(purse: AccountMeter, reserve: ReservationRule): Reservation {
  if (purse.balance <= 0n) {
    throw new GatewayError("insufficient_credits", "Cannot accept the request: the balance is used up");
  }
  return reserve(purse.spendable);
}

function admission(
  purse: AccountMeter,
  reserved: Reservation,
  { clock, log }: Pick<MeterOptions, "clock" | "log">,
): Admission {
  let ended: Promise<void> | null = null;
  const call: OpenCall = { amount: reserved.amount, onOverdrawn: null };
  purse.userCount++;
  purse.reserve(call);

  /** Nothing is awaited between the end of the reservation and the charge, so no other call is admitted in between. */
  function end(charge: (() => Promise<void>) | null): Promise<void> {
    purse.releaseReservation(call);
    ended = charge === null ? Promise.resolve() : charge();
    purse.userCount--;
    return ended;
  }

  return {
    reserved,
    charge(charge) {
      const { amount, requestId } = charge;
      if (amount < 0n) return Promise.reject(new RangeError(`Cannot charge an amount below zero: got ${amount}`));
      if (ended) {
        log.error("charge_ignored", { accountId: purse.account, requestId, reason: "the call had ended" });
        return ended;
      }
      return end(amount === 0n ? null : () => purse.charge({ ...charge, at: clock.now() }));
    },
    release() {
      if (!ended) void end(null);
    },
    onOverdrawn(listener) {
      if (!ended) purse.onOverdrawn(call, listener);
    },
  };
}

/** Makes room by the first purse that nobody uses; without one the map grows with the calls under way. */
function dropIdle(purses: Map<string, AccountMeter>): void {
  for (const [accountId, purse] of purses) {
    if (purse.isIdle) {
      purses.delete(accountId);
      return;
    }
  }
}
