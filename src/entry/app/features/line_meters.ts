import { CallAdmission } from "../../../money/billing/meter/admission.ts";
import {
  type Admission,
  type Allowance,
  type Charge,
  type LedgerMeter,
  type Meter,
  type Reservation,
  type ReservationRule,
  ruleOf,
} from "../../../money/billing/meter/meter.ts";
import type { LimitedCaller } from "../../../money/limits/limited_caller.ts";
import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";

/** More than any request costs, so that a rule reserves its highest cost. */
const UNLIMITED: Money = 10n ** 30n;

/** The highest cost of a request whose check has ended. It is thrown so that nothing is sent. */
export class LineEstimate extends Error {
  constructor(readonly amount: Money) {
    super("The request was checked");
  }
}

/** Ends a request where it would be admitted, with its highest cost. */
export class EstimatingMeter implements Meter {
  admit(_caller: LimitedCaller, reservation: Money | ReservationRule): never {
    throw new LineEstimate(ruleOf(reservation)(UNLIMITED).amount);
  }

  admitFree(): never {
    throw new LineEstimate(0n);
  }

  probe(_caller: LimitedCaller, reservation: Money | ReservationRule | null): Promise<never> {
    return Promise.reject(new LineEstimate(reservation === null ? 0n : ruleOf(reservation)(UNLIMITED).amount));
  }

  allowance(): Allowance {
    return { spendable: UNLIMITED, budget: null };
  }

  invalidate(): void {}
}

/** Admits one line within its part of the hold of its batch, and keeps its charge for the commit of its reply. */
export class LineMeter implements Meter {
  /** Null for nothing. */
  charged: Charge | null = null;

  constructor(
    private readonly meter: LedgerMeter,
    private readonly part: Money,
    private readonly log: Log,
  ) {}

  /** The limits of rate, tokens and concurrency hold as for any request. */
  admit(caller: LimitedCaller, reservation: Money | ReservationRule): MaybePromise<Admission> {
    const reserved = this.#reserved(ruleOf(reservation));
    return chain(this.meter.admitHeld(caller, reserved), (admission) => this.#admission(admission, reserved, caller));
  }

  /** A rule leaves a part of a balance to other requests, and there are none of this part of the hold. */
  #reserved(rule: ReservationRule): Reservation {
    const whole = rule(UNLIMITED);
    return whole.amount <= this.part ? whole : rule(this.part);
  }

  admitFree(caller: LimitedCaller): MaybePromise<Admission> {
    return this.meter.admitFree(caller);
  }

  probe(caller: LimitedCaller, reservation: Money | ReservationRule | null): Promise<Reservation> {
    return this.meter.probe(caller, reservation);
  }

  allowance(): Allowance {
    return { spendable: this.part, budget: null };
  }

  invalidate(accountId: string): void {
    this.meter.invalidate(accountId);
  }

  #admission(admission: Admission, reserved: Reservation, { accountId }: LimitedCaller): Admission {
    return new CallAdmission(reserved, {
      accountId,
      end: (charge, tokens) => {
        this.charged = charge;
        admission.release(tokens);
      },
      whenOverdrawn() {}, // the batch has the money already
    }, this.log);
  }
}

/**
 * Admits one line of a vendor's batch, and keeps its charge. The vendor has it, or gets it with others, so no limit of
 * rate applies.
 */
export class VendorLineMeter implements Meter {
  /** Null for nothing. */
  charged: Charge | null = null;

  constructor(private readonly log: Log) {}

  admit({ accountId }: LimitedCaller, reservation: Money | ReservationRule): Admission {
    return new CallAdmission(ruleOf(reservation)(UNLIMITED), {
      accountId,
      end: (charge) => void (this.charged = charge),
      whenOverdrawn() {}, // the batch has the money already
    }, this.log);
  }

  admitFree(caller: LimitedCaller): Admission {
    return this.admit(caller, 0n);
  }

  probe(_caller: LimitedCaller, reservation: Money | ReservationRule | null): Promise<Reservation> {
    return Promise.resolve(ruleOf(reservation ?? 0n)(UNLIMITED));
  }

  allowance(): Allowance {
    return { spendable: UNLIMITED, budget: null };
  }

  invalidate(): void {}
}
