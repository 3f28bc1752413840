import { NO_SLOT } from "../../../platform/lib/collections/slot_set.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { LeasedBuckets, LimitUnits } from "../../limits/lent_limits.ts";
import type { LimitedCall, LimitedCaller, TokenEstimate } from "../../limits/limited_caller.ts";
import type { ChargeGroup } from "../ledger/charge_group.ts";

/** What a lease has of the money and of each limit of a key and its account; infinite without a limit. */
export interface LeaseUnits extends LimitUnits {
  readonly money: Money;
}

/** The parts of a lease. */
export type LeasePart = keyof LeaseUnits;

/** What one call needs of a lease. */
export interface LeaseNeed extends TokenEstimate {
  readonly amount: Money;
}

/** What a thread has used of a lease since its last report, and no longer has. Every number is finite. */
export interface LeaseUse extends LeaseUnits {
  /** The part of `money` that was charged; more if calls cost more than they reserved. */
  readonly charged: Money;
  /** The part of `requests` that was used. The rest is given back. */
  readonly usedRequests: number;
  /** The tokens that were used; more than `tokens` if calls used more than they reserved. */
  readonly usedTokens: number;
  /** The largest reservation of its open calls. */
  readonly largest: Money;
}

/** A part of what is free that a lease gets: a sixteenth. */
const SHARE = 16;
/** A lease is of use for at least so many calls; with less, each call is decided where all calls are known. */
const MIN_CALLS = 16;
/** A lease is refilled long before so many calls have used it up. */
const MAX_CALLS = 1_024;

/**
 * What a thread gets of what is free, for calls like one that it admitted. Null near a limit.
 *
 * @param parts The parts that it needs more of. Default: all.
 */
export function leasedPartOf(
  free: LeaseUnits,
  { amount, tokens = 0 }: LeaseNeed,
  parts: readonly LeasePart[] = ALL_PARTS,
): LeaseUnits | null {
  const units = {
    money: parts.includes("money") ? moneyPart(free.money, amount) : 0n,
    // Without a limit the calls are counted nevertheless, since a limit can be set while they are open.
    calls: parts.includes("calls") ? part(Math.min(free.calls, SHARE * MAX_CALLS), 1) : 0,
    requests: parts.includes("requests") ? part(free.requests, 1) : 0,
    tokens: parts.includes("tokens") ? part(free.tokens, tokens) : 0,
  };
  const isEnough = (!parts.includes("money") || units.money >= BigInt(MIN_CALLS) * amount) &&
    (!parts.includes("calls") || units.calls >= MIN_CALLS) &&
    (!parts.includes("requests") || units.requests >= MIN_CALLS) &&
    (!parts.includes("tokens") || units.tokens >= MIN_CALLS * tokens);
  return isEnough ? units : null;
}

const ALL_PARTS: readonly LeasePart[] = ["money", "calls", "requests", "tokens"];

function part(free: number, need: number): number {
  if (free === Infinity) return Infinity;
  return Math.max(0, Math.min(Math.floor(free / SHARE), MAX_CALLS * need));
}

function moneyPart(free: Money, need: Money): Money {
  const [share, most] = [free / BigInt(SHARE), BigInt(MAX_CALLS) * need];
  if (share <= 0n) return 0n;
  return share < most ? share : most;
}

/**
 * A part of an account's money and limits that a thread has for calls of one key, which it admits by itself. Here it is
 * one open call, with the reservations of all of them and what is left.
 */
export class CallLease implements LimitedCall {
  /** The money that it has. */
  amount: Money = 0n;
  /** The calls that it has. */
  calls = 0;
  /** Units of each bucket in `buckets.requests`. */
  requests = 0;
  /** Units of each bucket in `buckets.tokens`. */
  tokens = 0;
  /** The largest reservation of an open call, as of the last report. */
  largest: Money = 0n;
  /** Called when the account no longer covers what is reserved: no further call must begin by the lease. */
  onShort: (() => void) | null = null;
  /** Called once when the account is overdrawn too far. */
  onOverdrawn: (() => void) | null = null;
  slot = NO_SLOT;
  readonly tokenLeases = null;

  /** @param buckets The buckets of the caller's limits when it began. */
  constructor(readonly caller: LimitedCaller, readonly buckets: LeasedBuckets) {}

  /** The key of its calls. */
  get keyId(): string {
    return this.caller.keyId;
  }
}

/** Lends parts of accounts to threads. */
export interface Lender {
  /** Lends a part to a thread for calls like one that it admitted; null near a limit. */
  lend(caller: LimitedCaller, need: LeaseNeed): { readonly lease: CallLease; readonly units: LeaseUnits } | null;
  /** Lends more of some parts; null near a limit. */
  lendMore(lease: CallLease, need: LeaseNeed, parts: readonly LeasePart[]): LeaseUnits | null;
  /** What a caller could reserve now, beside what is lent; may be below zero. */
  spendable(caller: LimitedCaller): Money;
  /** Takes back what a thread used or does not need. */
  takeBack(lease: CallLease, use: LeaseUse): void;
  /** Ends a lease, with everything that it still has. */
  endLease(lease: CallLease): void;
  /**
   * Writes charges to the ledger that a thread journaled. They count against the balance at once. Resolves when they
   * are there; see {@linkcode ChargeGroup.whenWritten}.
   */
  chargeGroup(group: ChargeGroup): Promise<void>;
}
