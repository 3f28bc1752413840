import type { Money } from "../../../platform/lib/basics/money.ts";
import { NO_SLOT, type SlotMember, SlotSet } from "../../../platform/lib/collections/slot_set.ts";
import type { AccountLimiter } from "../../limits/account_limiter.ts";
import type { LimitedCall } from "../../limits/limited_caller.ts";
import type { CallLease, LeaseUnits, LeaseUse } from "./call_lease.ts";

/** A call with a reservation. */
export interface OpenCall extends LimitedCall, SlotMember {
  /** Called once when the account is overdrawn too far; null if the call cannot be ended. */
  onOverdrawn: (() => void) | null;
}

/**
 * The calls of one account that may still charge, with what they have reserved: those of this thread, and those that
 * other threads admit by leases. Its limiter counts them too.
 */
export class OpenCalls implements Iterable<LimitedCall> {
  readonly #own = new SlotSet<OpenCall>();
  /** What threads have for calls that they admit by themselves. */
  readonly #lent = new SlotSet<CallLease>();
  #lentCalls = 0;
  #reserved: Money = 0n;

  /** @param limiter Returns the limits of the account and its keys. They count these calls. */
  constructor(private readonly limiter: () => AccountLimiter) {}

  /** The number of calls, with those that threads have leased. */
  get size(): number {
    return this.#own.size + this.#lentCalls;
  }

  /** What all of them have reserved. */
  get reserved(): Money {
    return this.#reserved;
  }

  /** The calls of this thread, and the leases of others. */
  *[Symbol.iterator](): Iterator<LimitedCall> {
    yield* this.#own;
    yield* this.#lent;
  }

  /** Opens a call and reserves its money in memory, until {@linkcode OpenCalls.close}. */
  open(call: OpenCall): void {
    this.limiter().onOpened(call);
    this.#own.add(call);
    this.#reserved += call.amount;
  }

  /** Ends a call and its reservation, with what it is charged and the tokens that it used. */
  close(call: OpenCall, charged: Money, tokens: number): void {
    if (!this.#own.delete(call)) return;
    this.#reserved -= call.amount;
    this.limiter().onClosed(call, charged, tokens);
  }

  /**
   * Lends units. Those of a limit that the caller does not have are infinite, and are not counted.
   *
   * @returns Whether the lease is a new one.
   */
  lend(lease: CallLease, { money, calls, requests, tokens }: LeaseUnits): boolean {
    const isNew = lease.slot === NO_SLOT;
    this.#lent.add(lease);
    const limiter = this.limiter();
    limiter.onOpened({ keyId: lease.keyId, amount: money }, calls);
    lease.amount += money;
    lease.calls += calls;
    this.#reserved += money;
    this.#lentCalls += calls;
    const { buckets } = lease;
    if (buckets.requests.length > 0) lease.requests += requests;
    if (buckets.tokens.length > 0) lease.tokens += tokens;
    limiter.lent.reserve(buckets, { requests, tokens });
    return isNew;
  }

  /** Takes back units that a thread used, or does not need. */
  takeBack(lease: CallLease, { money, calls, requests, tokens, charged, ...used }: LeaseUse): void {
    lease.amount -= money;
    lease.calls -= calls;
    lease.largest = used.largest;
    this.#reserved -= money;
    this.#lentCalls -= calls;
    const limiter = this.limiter();
    limiter.onGivenBack({ keyId: lease.keyId, amount: money }, { charged, calls });
    const { buckets } = lease;
    if (buckets.requests.length > 0) lease.requests -= requests;
    if (buckets.tokens.length > 0) lease.tokens -= tokens;
    limiter.lent.settle(buckets, { requests, tokens }, { requests: used.usedRequests, tokens: used.usedTokens });
  }

  /** Ends a lease, with everything that it still has. Returns whether it had not ended. */
  endLease(lease: CallLease): boolean {
    if (!this.#lent.delete(lease)) return false;
    const { amount: money, calls, requests, tokens } = lease;
    this.takeBack(lease, { money, calls, requests, tokens, charged: 0n, usedRequests: 0, usedTokens: 0, largest: 0n });
    return true;
  }

  /**
   * Ends the calls that can be ended once the credit is below minus the largest reservation. That happens only when
   * vendors exceed the limits that they were sent, or when others take money from the account. No call of a lease
   * begins once the credit does not cover what is reserved.
   *
   * @param credit The credit without the leases of other processes.
   */
  endIfOverdrawn(credit: Money): void {
    if (this.#lent.size > 0 && (credit <= 0n || credit < this.#reserved)) {
      for (const { onShort } of this.#lent) onShort?.();
    }
    if (credit >= 0n || this.size === 0) return;
    let largest = 0n;
    for (const { amount } of this.#own) if (amount > largest) largest = amount;
    for (const { largest: amount } of this.#lent) if (amount > largest) largest = amount;
    if (credit >= -largest) return;
    // An ended call may charge at once, which calls this method again. So the set is copied, and each listener is
    // called once.
    for (const call of [...this.#own, ...this.#lent]) {
      const { onOverdrawn } = call;
      call.onOverdrawn = null;
      onOverdrawn?.();
    }
  }
}
