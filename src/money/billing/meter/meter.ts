import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import { budgetExceeded, type BudgetLeft } from "../../limits/limit_refusal.ts";
import type { LimitedCaller, LimitHolder, TokenEstimate } from "../../limits/limited_caller.ts";
import type { LimitsLeft, RatesLeft } from "../../limits/limits_left.ts";
import type { ChargeRow } from "../ledger/charge.ts";
import type { Lender } from "./call_lease.ts";

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

/**
 * Admits calls that their account can pay for and that no limit forbids, and charges them at their end. Threads have
 * it too: what only the owner of the ledger can do is in {@linkcode LedgerMeter}.
 */
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
  /**
   * Returns what a caller can reserve now.
   *
   * @throws {GatewayError} As {@linkcode Meter.admit}, without a refusal for a reservation.
   */
  allowance(caller: LimitedCaller): MaybePromise<Allowance>;
  /** Must be called after an account's balance was changed elsewhere: the next call reads it. */
  invalidate(accountId: string): void;
}

/** A meter over a store: it admits calls, and has their accounts' charges until they are in the ledger. */
export interface LedgerMeter extends Meter {
  /** Reserves money, as {@linkcode Meter.admit}, for work that is no request: it takes no rate and is always open. */
  reserve(caller: LimitedCaller, reservation: Money | ReservationRule): MaybePromise<Admission>;
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
   * Writes all charges to the ledger, for the end of the process. Those that the store refuses are logged: as
   * `charge_in_journal` if the next start replays them, otherwise as `charge_lost`.
   */
  flush(): Promise<void>;
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

/** The rule of a reservation: of an amount, {@linkcode fixedReservation}. */
export function ruleOf(reservation: Money | ReservationRule): ReservationRule {
  return typeof reservation === "bigint" ? fixedReservation(reservation) : reservation;
}

/** Reserves nothing, neither money nor tokens. */
export const NO_RESERVATION: Reservation = { amount: 0n, outputLimit: null };
