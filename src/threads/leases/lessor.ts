import { ChargeGroup } from "../../money/billing/ledger/charge_group.ts";
import type { CallLease, LeaseNeed, LeaseUnits, Lender } from "../../money/billing/meter/call_lease.ts";
import type { LedgerMeter } from "../../money/billing/meter/meter.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { holdState } from "../../platform/lib/basics/held.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import {
  type ChargedRows,
  type LeaseGrant,
  type LeaseReport,
  type LeaseUseMessage,
  ROW_SEPARATOR,
  type ToLeasingThread,
} from "../state/messages.ts";
import { plainErrorOf } from "../state/plain_error.ts";

/** Takes back what threads lease. */
export interface Recalls {
  /** Whether leases of an account are taken back now, so that none begins. */
  isRecalling(accountId: string): boolean;
  /**
   * Ends the leases of an account, and then does something with what they gave back. No lease begins in between.
   *
   * @param keyId The key whose leases end; null for all keys of the account.
   * @returns Null if there are no such leases.
   */
  recalled<T>(accountId: string, keyId: string | null, act: () => MaybePromise<T>): Promise<T> | null;
}

/** The dependencies of a {@linkcode Lessor}. */
export interface LessorOptions {
  readonly meter: Pick<LedgerMeter, "ratesLeft" | "lender">;
  readonly clock: Clock;
  readonly lessors: Recalls;
  /** Sends a message to the thread. */
  readonly post: (message: ToLeasingThread) => void;
}

/** A lease of the thread, from its start until it is over. */
interface LentLease {
  readonly id: number;
  readonly lease: CallLease;
  readonly limitsId: number;
  /** What its last call needed. */
  need: LeaseNeed;
  /** Whether the thread ends it, or has the message to. It may have open calls. */
  isEnding: boolean;
}

/** The main thread's end of the leases of one thread. */
export class Lessor {
  readonly #byId = new Map<number, LentLease>();
  readonly #byKey = new Map<string, LentLease>();
  /** The reports that the thread was asked for. */
  readonly #asked = new Map<number, () => void>();
  #nextId = 1;
  #isOver = false;

  constructor(private readonly options: LessorOptions) {}

  /**
   * Lends a part for further calls of a caller, like one that was admitted; null near a limit.
   *
   * @param limitsId The name of the caller's limits. A lease is for one of them only.
   */
  lend(caller: LimitedCaller, limitsId: number, need: LeaseNeed): LeaseGrant | null {
    const { lessors, meter: { lender } } = this.options;
    if (this.#isOver || lessors.isRecalling(caller.accountId)) return null;
    const known = this.#byKey.get(caller.keyId);
    if (known !== undefined) {
      if (known.limitsId !== limitsId) return null; // the thread ends it first
      known.need = need;
      const more = lender.lendMore(known.lease, need, ALL_PARTS);
      return more && this.#grant(known, more, lender, false);
    }
    const lent = lender.lend(caller, need);
    if (lent === null) return null;
    const own: LentLease = { id: this.#nextId++, lease: lent.lease, limitsId, need, isEnding: false };
    own.lease.onShort = () => {
      const recalled = own.isEnding ? null : lessors.recalled(caller.accountId, null, () => {});
      if (recalled !== null) holdState(recalled, "leases of money");
    };
    own.lease.onOverdrawn = () => this.options.post({ type: "lease-overdrawn", lease: own.id });
    this.#byId.set(own.id, own);
    this.#byKey.set(caller.keyId, own);
    return this.#grant(own, lent.units, lender, true);
  }

  /** Handles what the thread used, and its charges. */
  onReport({ uses, charges, answers }: LeaseReport): void {
    const { meter: { lender } } = this.options;
    for (const { lease, largest } of uses) {
      const lent = this.#byId.get(lease);
      if (lent !== undefined) lent.lease.largest = BigInt(largest);
    }
    // A charge counts before the reservation ends, so that no other call is admitted in between.
    for (const each of charges) this.#charge(each, lender);
    for (const use of uses) this.#take(use, lender);
    if (answers === null) return;
    this.#asked.get(answers)?.();
    this.#asked.delete(answers);
  }

  /**
   * Whether the thread has leases of an account, or open calls of them.
   *
   * @param keyId Null for all keys of the account.
   */
  hasLeases(accountId: string, keyId: string | null): boolean {
    for (const { lease: { caller } } of this.#byId.values()) {
      if (caller.accountId === accountId && (keyId === null || caller.keyId === keyId)) return true;
    }
    return false;
  }

  /** The accounts of which the thread has leases, or open calls of them. */
  get accounts(): ReadonlySet<string> {
    return new Set([...this.#byId.values()].map(({ lease }) => lease.caller.accountId));
  }

  /**
   * Asks the thread what it has used, and ends its leases if they are meant to end. Resolves when it has reported, or
   * has ended.
   *
   * @param id Unique for the thread.
   */
  ask(
    id: number,
    { accountId, keyId, ends }: { accountId: string; keyId: string | null; ends: boolean },
  ): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    for (const lent of ends ? [...this.#byKey.values()] : []) {
      const { caller } = lent.lease;
      if (caller.accountId === accountId && (keyId === null || caller.keyId === keyId)) this.#endLater(lent);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asked.set(id, resolve);
    this.options.post({ type: "report-leases", id, accountId, keyId, ends });
    return promise;
  }

  /**
   * Ends all leases, after the thread has ended.
   *
   * @returns The accounts whose charges the thread may have journaled and not sent.
   */
  end(): ReadonlySet<string> {
    const { accounts } = this;
    this.#isOver = true;
    for (const done of this.#asked.values()) done();
    this.#asked.clear();
    for (const { lease } of this.#byId.values()) this.options.meter.lender.endLease(lease);
    this.#byId.clear();
    this.#byKey.clear();
    return accounts;
  }

  #endLater(lent: LentLease): void {
    lent.isEnding = true;
    const { keyId } = lent.lease;
    if (this.#byKey.get(keyId) === lent) this.#byKey.delete(keyId);
  }

  #take({ lease: id, short, isEnded, isOver, ...use }: LeaseUseMessage, lender: Lender): void {
    const lent = this.#byId.get(id);
    if (lent === undefined) return;
    const amounts = { money: BigInt(use.money), charged: BigInt(use.charged), largest: BigInt(use.largest) };
    lender.takeBack(lent.lease, { ...use, ...amounts });
    if (isEnded) this.#endLater(lent);
    if (isOver) {
      this.#byId.delete(id);
      lender.endLease(lent.lease);
      return;
    }
    const { lessors, post } = this.options;
    if (short.length === 0 || lent.isEnding || lessors.isRecalling(lent.lease.caller.accountId)) return;
    const more = lender.lendMore(lent.lease, lent.need, short);
    if (more !== null) post({ type: "leased", grant: this.#grant(lent, more, lender, false) });
  }

  #grant(
    { id, lease: { caller }, limitsId }: LentLease,
    units: LeaseUnits,
    lender: Lender,
    isNew: boolean,
  ): LeaseGrant {
    const { keyId, accountId } = caller;
    return {
      lease: id,
      money: String(units.money),
      calls: units.calls,
      requests: units.requests === Infinity ? null : units.requests,
      tokens: units.tokens === Infinity ? null : units.tokens,
      spendable: String(lender.spendable(caller)),
      rates: this.options.meter.ratesLeft(caller),
      caller: isNew ? { keyId, accountId, limitsId } : null,
    };
  }

  #charge({ accountId: account, reference, rows, total, unjournaled }: ChargedRows, lender: Lender): void {
    const written = { account, reference, rows: rows.split(ROW_SEPARATOR), total: BigInt(total) };
    const startedAt = this.options.clock.monotonicMs();
    const group = ChargeGroup.ofRows(written, { unjournaled, startedAt });
    this.#followGroup(group, lender.chargeGroup(group));
  }

  /** Tells the thread when a group is written, or that one cannot be written which its callers wait for. */
  #followGroup(group: ChargeGroup, written: Promise<void>): void {
    const { reference } = group;
    const { post } = this.options;
    written.then(
      () => post({ type: "written", references: [reference] }),
      (failure) => {
        if (group.unjournaled.length > 0) post({ type: "unwritten", reference, failure: plainErrorOf(failure) });
        // It is written later, unless it is given up.
        if (group.isLost) post({ type: "written", references: [reference] });
        else this.#followGroup(group, group.whenWritten());
      },
    );
  }
}

const ALL_PARTS = ["money", "calls", "requests", "tokens"] as const;
