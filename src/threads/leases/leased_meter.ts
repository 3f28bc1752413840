import { CallAdmission } from "../../money/billing/meter/admission.ts";
import {
  type Admission,
  type Meter,
  type Reservation,
  reservedWithin,
  ruleOf,
} from "../../money/billing/meter/meter.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { RatesLeft } from "../../money/limits/limits_left.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { JournaledCharges } from "./journaled_charges.ts";
import { limitsIdOf } from "../state/limits_id.ts";
import type { LeaseGrant, LeaseReport, ToLeasingThread } from "../state/messages.ts";
import { ThreadLease } from "./thread_lease.ts";

/** The dependencies of {@linkcode LeasedMeter}. */
export interface LeasedMeterOptions {
  /** Admits a call on the main thread. */
  readonly remote: Meter;
  /** Returns the charges of the thread. They report to {@linkcode LeasedMeter.onCharged}. */
  readonly charges: JournaledCharges;
  readonly clock: Clock;
  /** The time of the store, which charges have. */
  readonly now: () => number;
  readonly log: Log;
  /** Whether the store takes writes, as far as is known. Otherwise the main thread decides on each call. */
  readonly isWritable: () => boolean;
  /** Sends a report at the end of the turn. */
  readonly report: (report: LeaseReport) => void;
}

/** How long uses of leases and charges wait for others; see `LedgerSchedule`. */
const REPORT_MS = 40;
/** A lease without a new call for one to two times so long is given back. */
const IDLE_CHECK_MS = 1_500;

/**
 * The meter of a thread. It admits a call by itself if the thread has a lease that covers it, and asks the main thread
 * otherwise, which also decides on every refusal. Charges of leased calls are in the thread's own journal.
 */
export class LeasedMeter implements Meter {
  readonly #byKey = new Map<string, ThreadLease>();
  /** All leases with something that the main thread does not know, or with open calls. */
  readonly #byId = new Map<number, ThreadLease>();
  #stopReport: (() => void) | null = null;
  #isChecking = false;

  constructor(private readonly options: LeasedMeterOptions) {}

  /** See {@linkcode Meter.admit}. */
  admit(...[caller, reservation]: Parameters<Meter["admit"]>): MaybePromise<Admission> {
    const lease = this.#byKey.get(caller.keyId);
    if (lease !== undefined && this.options.isWritable()) {
      if (lease.caller.limitsId !== limitsIdOf(caller.limits)) this.#end(lease); // they have changed
      const rule = ruleOf(reservation);
      const reserved = reservedBy(() => reservedWithin(rule, { spendable: lease.spendable, budget: null }));
      if (reserved !== null && lease.covers(reserved)) return this.#admission(lease, reserved);
    }
    return this.options.remote.admit(caller, reservation);
  }

  /** See {@linkcode Meter.admitFree}. */
  admitFree(caller: LimitedCaller): MaybePromise<Admission> {
    return this.options.remote.admitFree(caller);
  }

  /** See {@linkcode Meter.probe}. */
  probe(...request: Parameters<Meter["probe"]>): Promise<Reservation> {
    return this.options.remote.probe(...request);
  }

  /** See {@linkcode Meter.allowance}. */
  allowance(caller: LimitedCaller): ReturnType<Meter["allowance"]> {
    return this.options.remote.allowance(caller);
  }

  /** See {@linkcode Meter.invalidate}. */
  invalidate(accountId: string): void {
    this.options.remote.invalidate(accountId);
  }

  /** Gives back all leases, and resolves when all charges are in the ledger. */
  async flush(): Promise<void> {
    this.endAll();
    await this.options.charges.whenWritten();
  }

  /** What the limits of rate of a key leave; undefined without a lease of the key. */
  ratesLeft({ keyId }: LimitedCaller): RatesLeft | null | undefined {
    return this.#byKey.get(keyId)?.ratesLeft;
  }

  /** The main thread granted a part, or more of it. */
  onGrant(grant: LeaseGrant): void {
    const { caller } = grant;
    const known = this.#byId.get(grant.lease);
    if (known !== undefined) {
      known.add(grant);
      if (known.isEnded) this.onCharged(true);
      return;
    }
    if (caller === null) return; // the lease is over, and the main thread counts nothing of it any more
    const before = this.#byKey.get(caller.keyId);
    if (before !== undefined) this.#end(before);
    const lease = new ThreadLease(grant.lease, caller, grant);
    this.#byId.set(grant.lease, lease);
    this.#byKey.set(caller.keyId, lease);
    this.#checkLater();
  }

  /** Handles a message of the main thread about leases. */
  onMessage(message: ToLeasingThread): void {
    switch (message.type) {
      case "leased":
        return this.onGrant(message.grant);
      case "lease-overdrawn":
        return this.#byId.get(message.lease)?.onOverdrawn();
      case "report-leases": {
        const { accountId, keyId, ends, id } = message;
        if (ends) {
          for (const lease of [...this.#byKey.values()]) {
            const isMeant = lease.caller.accountId === accountId && (keyId === null || lease.caller.keyId === keyId);
            if (isMeant) this.#end(lease);
          }
        }
        return this.#report(id);
      }
      case "written":
        return this.options.charges.onWritten(message.references);
      case "unwritten":
        return this.options.charges.onUnwritten(message.reference, message.failure);
    }
  }

  /** Gives back the leases of an account. */
  endAccount(accountId: string): void {
    for (const lease of [...this.#byKey.values()]) if (lease.caller.accountId === accountId) this.#end(lease);
    this.#report(null);
  }

  /** Gives back all leases. */
  endAll(): void {
    for (const lease of [...this.#byKey.values()]) this.#end(lease);
    this.#report(null);
  }

  /** There is something to report. */
  onCharged(canWait: boolean): void {
    if (!canWait) return this.#report(null);
    this.#stopReport ??= this.options.clock.after(REPORT_MS, () => this.#report(null));
  }

  #admission(lease: ThreadLease, reserved: Reservation): Admission {
    const call = lease.open(reserved);
    const { now, log, charges } = this.options;
    const { accountId } = lease.caller;
    this.onCharged(true);
    return new CallAdmission(reserved, {
      accountId,
      end: (charge, tokens) => {
        const amount = charge?.amount ?? 0n;
        lease.close(call, amount, tokens);
        const charged = charge === null || amount === 0n ? undefined : charges.add(accountId, { ...charge, at: now() });
        this.onCharged(true);
        return charged;
      },
      whenOverdrawn: (listener) => call.onOverdrawn = listener,
    }, log);
  }

  #end(lease: ThreadLease): void {
    const { keyId } = lease.caller;
    if (this.#byKey.get(keyId) === lease) this.#byKey.delete(keyId);
    lease.end();
    this.onCharged(true);
  }

  /** Sends what the main thread does not know. The charges are taken together with the uses that they belong to. */
  #report(answers: number | null): void {
    this.#stopReport?.();
    this.#stopReport = null;
    const uses = [...this.#byId.values()].flatMap((lease) => lease.takeUse() ?? []);
    const charges = this.options.charges.take();
    for (const { lease, isOver } of uses) if (isOver) this.#byId.delete(lease);
    if (uses.length === 0 && charges.length === 0 && answers === null) return;
    this.options.report({ type: "lease-report", uses, charges, answers });
  }

  #checkLater(): void {
    if (this.#isChecking) return;
    this.#isChecking = true;
    this.options.clock.after(IDLE_CHECK_MS, () => {
      this.#isChecking = false;
      for (const lease of [...this.#byKey.values()]) {
        if (!lease.isUsed) this.#end(lease);
        lease.isUsed = false;
      }
      if (this.#byKey.size > 0) this.#checkLater();
    });
  }
}

/** Null where the main thread must decide with the present amount: a refusal, or a limit that the amount determines. */
function reservedBy(reserve: () => Reservation): Reservation | null {
  try {
    const reserved = reserve();
    return reserved.outputLimit === null ? reserved : null;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return null;
    throw error;
  }
}
