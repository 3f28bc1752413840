import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import { NO_SLOT } from "../../../platform/lib/collections/slot_set.ts";
import type { Store } from "../../../platform/store/store.ts";
import { storageUnavailable } from "../../../platform/store/write_health.ts";
import type { HeldTokens, LimitedCaller } from "../../limits/limited_caller.ts";
import type { SharedDemand } from "../../limits/limit_leases.ts";
import type { AccountMeter } from "./account_meter.ts";
import type { AccountMeters } from "./account_meters.ts";
import { type AdmittedCall, CallAdmission } from "./admission.ts";
import {
  type Admission,
  type Allowance,
  type Charge,
  NO_RESERVATION,
  type Reservation,
  type ReservationRule,
  reservedWithin,
} from "./meter.ts";
import type { OpenCall } from "./open_calls.ts";

/** The dependencies of an {@linkcode Admitter}. */
export interface AdmitterOptions {
  readonly store: Pick<Store, "now">;
  readonly log: Log;
}

/** What is taken for a call that its account can pay for. */
interface Taking<T> {
  /** Whether it counts as a request in the limits of rate, tokens and concurrency. */
  readonly isRequest: boolean;
  /** Takes all of it, or throws and takes nothing. */
  readonly take: (meter: AccountMeter, caller: LimitedCaller, reserved: Reservation) => T;
}

/**
 * The steps of an admission:
 *
 *     the account's money and budgets are read, if they are not known
 *     → the rule reserves an amount within what is left, or refuses the call
 *     → what this process leases covers it, or more is leased, and the step before is done again
 *     → the limits are checked and taken, and the call is open
 *
 * From the second step on nothing is awaited unless a lease is missing, so requests cannot pass a limit together.
 */
export class Admitter {
  constructor(private readonly meters: AccountMeters, private readonly options: AdmitterOptions) {}

  /** Admits a request: money, and the limits of rate, tokens and concurrency. */
  admitRequest(caller: LimitedCaller, rule: ReservationRule): MaybePromise<Admission> {
    return this.#admitted(caller, rule, this.#request);
  }

  /** Reserves money for work that is no request. */
  admitWork(caller: LimitedCaller, rule: ReservationRule): MaybePromise<Admission> {
    return this.#admitted(caller, rule, this.#work);
  }

  /** Checks a request and takes nothing. */
  probe(caller: LimitedCaller, rule: ReservationRule): MaybePromise<Reservation> {
    return this.#admitted(caller, rule, PROBE);
  }

  /** Checks a request that costs nothing, and takes nothing. */
  async probeFree(caller: LimitedCaller): Promise<Reservation> {
    const meter = this.meters.of(caller.accountId);
    if (!meter.limiter.leases.covers(caller, FREE_REQUEST)) await meter.leaseShares(caller, FREE_REQUEST);
    meter.limiter.check(caller, NO_RESERVATION);
    return NO_RESERVATION;
  }

  /** Admits by the limits of rate, tokens and concurrency alone, whatever the balance. */
  admitUnreserved(caller: LimitedCaller, reserved: Reservation): MaybePromise<Admission> {
    const meter = this.meters.of(caller.accountId);
    const demand: SharedDemand = { ...reserved, isRequest: true };
    const attempt = () =>
      meter.limiter.leases.covers(caller, demand) ? this.#request.take(meter, caller, reserved) : null;
    return attempt() ?? afterLease(meter, { caller, lease: () => meter.leaseShares(caller, demand), attempt });
  }

  /** What a caller can reserve now. */
  allowance(caller: LimitedCaller): MaybePromise<Allowance> {
    return this.meters.use(caller, (meter) => allowanceIn(meter, caller));
  }

  #admitted<T extends object>(caller: LimitedCaller, rule: ReservationRule, taking: Taking<T>): MaybePromise<T> {
    if (this.meters.isShared) return this.#withinLeases(caller, rule, taking);
    return this.meters.use(caller, (meter) => taking.take(meter, caller, reservedIn(meter, caller, rule)));
  }

  #withinLeases<T extends object>(
    caller: LimitedCaller,
    rule: ReservationRule,
    { isRequest, take }: Taking<T>,
  ): MaybePromise<T> {
    let demand: SharedDemand | null = null;
    const attempt = () =>
      this.meters.use(caller, (meter) => {
        const reserved = reservedIn(meter, caller, rule);
        demand = { ...reserved, isRequest };
        const isCovered = meter.covers(reserved.amount) && meter.limiter.leases.covers(caller, demand);
        return isCovered ? take(meter, caller, reserved) : null;
      });
    const lease = async () => {
      if (demand === null) return;
      const meter = this.meters.of(caller.accountId);
      if (!meter.covers(demand.amount)) await meter.lease(demand.amount);
      await meter.leaseShares(caller, demand);
    };
    return chain(
      attempt(),
      (taken) => taken ?? afterLease(this.meters.of(caller.accountId), { caller, lease, attempt }),
    );
  }

  readonly #request: Taking<Admission> = {
    isRequest: true,
    take: (meter, caller, reserved) =>
      this.#opened(meter, reserved, { keyId: caller.keyId, tokenLeases: meter.limiter.take(caller, reserved) }),
  };

  readonly #work: Taking<Admission> = {
    isRequest: false,
    take: (meter, { keyId }, reserved) => this.#opened(meter, reserved, { keyId, tokenLeases: null }),
  };

  #opened(
    meter: AccountMeter,
    reserved: Reservation,
    { keyId, tokenLeases }: Pick<CallParts, "keyId" | "tokenLeases">,
  ): Admission {
    const { store, log } = this.options;
    const call = new MeteredCall({ meter, store, amount: reserved.amount, keyId, tokenLeases });
    return new CallAdmission(reserved, call, log);
  }
}

/** Reserves nothing, for a check. */
const PROBE: Taking<Reservation> = {
  isRequest: true,
  take(meter, caller, reserved) {
    meter.limiter.check(caller, reserved);
    return reserved;
  },
};

const FREE_REQUEST: SharedDemand = { amount: 0n, isRequest: true };

/** Where a call is charged, and what it has taken. */
interface CallParts {
  readonly meter: AccountMeter;
  readonly store: Pick<Store, "now">;
  readonly amount: Money;
  readonly keyId: string;
  readonly tokenLeases: HeldTokens[] | null;
}

/** A call that this process admitted. Its charge goes to the ledger. */
class MeteredCall implements OpenCall, AdmittedCall {
  readonly amount: Money;
  readonly keyId: string;
  readonly tokenLeases: HeldTokens[] | null;
  onOverdrawn: OpenCall["onOverdrawn"] = null;
  slot = NO_SLOT;
  readonly #meter: AccountMeter;
  readonly #store: Pick<Store, "now">;

  constructor({ meter, store, amount, keyId, tokenLeases }: CallParts) {
    this.#meter = meter;
    this.#store = store;
    this.amount = amount;
    this.keyId = keyId;
    this.tokenLeases = tokenLeases;
    meter.userCount++;
    meter.open(this);
  }

  get accountId(): string {
    return this.#meter.account;
  }

  end(charge: Charge | null, tokens: number): MaybePromise<void> {
    const meter = this.#meter;
    const row = charge === null || charge.amount === 0n ? null : { ...charge, at: this.#store.now() };
    meter.calls.close(this, row === null ? 0n : row.amount, tokens);
    const charged = row === null ? undefined : meter.charge(row);
    meter.userCount--;
    return charged;
  }

  whenOverdrawn(listener: () => void): void {
    this.#meter.onOverdrawn(this, listener);
  }
}

function reservedIn(meter: AccountMeter, caller: LimitedCaller, rule: ReservationRule): Reservation {
  if (caller.limits !== null) return reservedWithin(rule, allowanceIn(meter, caller));
  refuseUsedUp(meter);
  return rule(meter.spendable);
}

function allowanceIn(meter: AccountMeter, caller: LimitedCaller): Allowance {
  refuseUsedUp(meter);
  const { spendable } = meter;
  const budget = meter.limiter.budgets.left(caller);
  return budget !== null && budget.left < spendable ? { spendable: budget.left, budget } : { spendable, budget: null };
}

/** A call that costs nothing also needs credit. */
function refuseUsedUp(meter: AccountMeter): void {
  if (meter.credit > 0n) return;
  throw new GatewayError("insufficient_credits", "Cannot accept the request: the balance is used up");
}

/** A call that the leases of this process do not cover. */
interface UncoveredCall<T> {
  readonly caller: LimitedCaller;
  /** Leases what the call needs. Rejects as the store does, or with a refusal. */
  readonly lease: () => Promise<void>;
  /** Returns null if the lease does not cover the call. */
  readonly attempt: () => MaybePromise<T | null>;
}

/** A call waits for so many demands of others, and then tries with what is leased. */
const MAX_LEASE_WAITS = 64;
/** A call that is overtaken by others so often is refused. */
const MAX_LEASE_ATTEMPTS = 16;

/**
 * Leases what a call needs that was not admitted, and tries again. Calls at one time share the first demands. If these
 * do not cover all of them, each has its own, in turn, so that what is free goes to as many as it covers.
 *
 * @throws {GatewayError} What the lease or the attempt throws; `storage_unavailable` if the store fails, or if others
 * overtake the call too often.
 */
async function afterLease<T>(meter: AccountMeter, call: UncoveredCall<T>): Promise<T> {
  meter.userCount++;
  try {
    return await tryOnce(meter, call) ?? await meter.inTurn(async () => {
      for (let attempt = 0; attempt < MAX_LEASE_ATTEMPTS; attempt++) {
        const result = await tryOnce(meter, call);
        if (result !== null) return result;
      }
      throw storageUnavailable();
    });
  } finally {
    meter.userCount--;
  }
}

async function tryOnce<T>(meter: AccountMeter, { caller, lease, attempt }: UncoveredCall<T>): Promise<T | null> {
  await lease().catch((failure) => {
    throw failure instanceof GatewayError ? failure : storageUnavailable(failure);
  });
  // Another call's demand replaces the lease, which covers nothing meanwhile.
  for (let wait = 0; wait < MAX_LEASE_WAITS; wait++) {
    const pending = meter.pendingLease(caller);
    if (pending === null) break;
    await pending.catch(() => {});
  }
  return await attempt();
}
