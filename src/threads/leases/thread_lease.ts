import type { LeasePart } from "../../money/billing/meter/call_lease.ts";
import type { Reservation } from "../../money/billing/meter/meter.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { NO_SLOT, type SlotMember, SlotSet } from "../../platform/lib/collections/slot_set.ts";
import type { RatesLeft } from "../../money/limits/limits_left.ts";
import type { LeaseCaller, LeaseGrant, LeaseUseMessage } from "../state/messages.ts";

/** A call that a lease covers. */
export interface LeasedCall extends SlotMember {
  readonly amount: Money;
  readonly tokens: number;
  /** Called once when the account is overdrawn too far; null if the call cannot be ended. */
  onOverdrawn: (() => void) | null;
}

/**
 * What this thread has of an account for calls of one key. It counts what is left; the main thread counts all of it as
 * reserved until it is used or given back.
 *
 *     active: calls begin → ended: what is left is given back → the last call closes: over
 */
export class ThreadLease {
  /** What the caller could reserve beside it when it last grew. */
  spendable: Money = 0n;
  /** Whether a call began since the last look. */
  isUsed = true;
  #isEnded = false;
  #rates: RatesLeft | null = null;
  #money: Money = 0n;
  #calls = 0;
  #requests: number;
  #tokens: number;
  readonly #open = new SlotSet<LeasedCall>();
  /** Below these numbers more is needed. */
  readonly #half = { money: 0n, calls: 0, requests: 0, tokens: 0 };
  /** More was asked for, and has not come. */
  #asked: readonly LeasePart[] = [];
  #given = noUnits();
  #charged: Money = 0n;
  #usedRequests = 0;
  #usedTokens = 0;
  #isChanged = false;

  constructor(readonly id: number, readonly caller: LeaseCaller, grant: LeaseGrant) {
    this.#requests = grant.requests === null ? Infinity : 0;
    this.#tokens = grant.tokens === null ? Infinity : 0;
    this.add(grant);
  }

  /** Adds what the main thread granted. What comes after the end is given back. */
  add({ money, calls, requests, tokens, spendable, rates }: LeaseGrant): void {
    const added = BigInt(money);
    this.#money += added;
    this.#calls += calls;
    this.#requests += requests ?? 0;
    this.#tokens += tokens ?? 0;
    this.spendable = BigInt(spendable);
    this.#rates = rates;
    this.#asked = [];
    if (added > 0n) this.#half.money = added / 2n;
    if (calls > 0) this.#half.calls = calls / 2;
    if (requests) this.#half.requests = requests / 2;
    if (tokens) this.#half.tokens = tokens / 2;
    if (this.#isEnded) this.#giveRest();
  }

  /** Whether no call begins any more. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether no call is open. */
  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** What the limits of rate leave, with what is left here; null without such limits. */
  get ratesLeft(): RatesLeft | null {
    const { requests, tokens } = this.#rates ?? {};
    return this.#rates && {
      ...requests && { requests: { ...requests, left: requests.left + this.#requests } },
      ...tokens && { tokens: { ...tokens, left: tokens.left + this.#tokens } },
    };
  }

  /** Whether it covers a call. */
  covers({ amount, tokens = 0 }: Reservation): boolean {
    return !this.#isEnded && this.#money >= amount && this.#calls > 0 && this.#requests > 0 && this.#tokens >= tokens;
  }

  /** Opens a call that it covers. */
  open({ amount, tokens = 0 }: Reservation): LeasedCall {
    const call: LeasedCall = {
      amount,
      tokens: this.#tokens === Infinity ? 0 : tokens,
      onOverdrawn: null,
      slot: NO_SLOT,
    };
    this.#open.add(call);
    this.#money -= amount;
    this.#calls--;
    this.#requests--;
    this.#tokens -= call.tokens;
    this.#usedRequests++;
    if (this.#requests !== Infinity) this.#given.requests++;
    this.isUsed = this.#isChanged = true;
    return call;
  }

  /**
   * Closes a call, with what it is charged and the tokens that it used. What it did not use is left for others. A
   * charge above everything that is left overdraws the account: the main thread learns of it by the charge.
   */
  close(call: LeasedCall, charged: Money, tokens: number): void {
    if (!this.#open.delete(call)) return;
    const money = this.#money + call.amount;
    const used = charged < money ? charged : money;
    this.#money = money - used;
    this.#given.money += used;
    this.#charged += charged;
    this.#calls++;
    this.#usedTokens += tokens;
    if (this.#tokens !== Infinity) {
      const left = this.#tokens + call.tokens;
      const taken = Math.min(tokens, left);
      this.#tokens = left - taken;
      this.#given.tokens += taken;
    }
    this.#isChanged = true;
    if (this.#isEnded) this.#giveRest();
  }

  /** Gives back what is left. The open calls keep what they have reserved. */
  end(): void {
    this.#isEnded = true;
    this.#giveRest();
  }

  /** Ends the open calls of an account that is overdrawn too far. */
  onOverdrawn(): void {
    for (const call of [...this.#open]) {
      const { onOverdrawn } = call;
      call.onOverdrawn = null;
      onOverdrawn?.();
    }
  }

  /** What was used and given back since the last time; null if nothing was. */
  takeUse(): LeaseUseMessage | null {
    if (!this.#isChanged) return null;
    this.#isChanged = false;
    const { money, calls, requests, tokens } = this.#given;
    const short = this.#isEnded ? [] : this.#shortParts();
    if (short.length > 0) this.#asked = short;
    const use = {
      lease: this.id,
      money: String(money),
      charged: String(this.#charged),
      calls,
      requests,
      usedRequests: this.#usedRequests,
      tokens,
      usedTokens: this.#usedTokens,
      largest: String(this.#largest()),
      short,
      isEnded: this.#isEnded,
      isOver: this.#isEnded && this.isIdle,
    };
    this.#given = noUnits();
    this.#charged = 0n;
    this.#usedRequests = 0;
    this.#usedTokens = 0;
    return use;
  }

  #shortParts(): LeasePart[] {
    if (this.#asked.length > 0) return [];
    const half = this.#half;
    const parts: LeasePart[] = [];
    if (this.#money < half.money) parts.push("money");
    if (this.#calls < half.calls) parts.push("calls");
    if (this.#requests < half.requests) parts.push("requests");
    if (this.#tokens < half.tokens) parts.push("tokens");
    return parts;
  }

  #largest(): Money {
    let largest = 0n;
    for (const { amount } of this.#open) if (amount > largest) largest = amount;
    return largest;
  }

  #giveRest(): void {
    this.#given.money += this.#money;
    this.#given.calls += this.#calls;
    if (this.#requests !== Infinity) this.#given.requests += this.#requests;
    if (this.#tokens !== Infinity) this.#given.tokens += this.#tokens;
    this.#money = 0n;
    this.#calls = 0;
    this.#requests = 0;
    this.#tokens = this.#tokens === Infinity ? Infinity : 0;
    this.#isChanged = true;
  }
}

function noUnits(): { money: Money; calls: number; requests: number; tokens: number } {
  return { money: 0n, calls: 0, requests: 0, tokens: 0 };
}
