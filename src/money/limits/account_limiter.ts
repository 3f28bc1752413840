import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import type { AccessLimits } from "./access_limits.ts";
import { BudgetState } from "./budget_state.ts";
import type { ExceededQuota } from "../../platform/lib/basics/gateway_error.ts";
import { type BudgetLeft, rateLimited, type RateRefusal } from "./limit_refusal.ts";
import type { LimitedCall, LimitedCaller, LimitHolder, TokenEstimate } from "./limited_caller.ts";
import { LimitShare, type ShareOptions } from "./limit_share.ts";
import { RateBucket } from "./rate_bucket.ts";
import { SharedBudget, SharedRateBucket } from "./shared_limits.ts";

/** The dependencies and settings of the limits of an account. */
export interface AccountLimiterOptions {
  readonly clock: Clock;
  /** The time of the store in Unix milliseconds, for the periods of budgets. Default: that of the clock. */
  readonly now?: () => number;
  /** Returns the open calls that every account can have. Default: no limit. */
  readonly accountConcurrency?: () => number;
  /** The open calls of the account. */
  readonly openCalls: Iterable<LimitedCall> & { readonly size: number };
  /** Shares of the limits, if other processes have the same ones. Default: none do. */
  readonly shares?: (ShareOptions & { readonly account: string; readonly gateways: () => number }) | null;
}

/** A budget whose spent amount must be read. */
export interface WantedBudget {
  /** Null for the account's. */
  readonly keyId: string | null;
  readonly state: BudgetState;
}

/** What a limit of rate has left. */
export interface RateLeft {
  readonly limit: number;
  readonly left: number;
  /** Milliseconds until everything is left. */
  readonly fullInMs: number;
}

/** The limits of rate of a caller that leave the least; absent without a limit. */
export interface RatesLeft {
  readonly requests?: RateLeft;
  readonly tokens?: RateLeft;
}

/** What the limits of one holder have left; absent without a limit. The budget must be loaded. */
export interface LimitsLeft extends RatesLeft {
  readonly concurrency?: { readonly limit: number; readonly left: number };
  readonly budget?: BudgetLeft;
}

/** What one key or account uses of its limits. Parts are created when a limit applies first. */
interface HolderState {
  open: number;
  requests: RateBucket | null;
  tokens: RateBucket | null;
  /**
   * One for each kind of period. There are several for a while after a limit has changed, since calls that were
   * authenticated before have the former one.
   */
  budgets: readonly BudgetState[];
  /** The share of the limit of open calls; null if no other process has it. */
  openShare: LimitShare | null;
}

/** What a thread can lease of the limits of a caller; infinite without a limit. */
export interface LimitUnits {
  readonly calls: number;
  readonly requests: number;
  readonly tokens: number;
}

/** The buckets of a caller's limits of rate. */
export interface LeasedBuckets {
  readonly requests: readonly RateBucket[];
  readonly tokens: readonly RateBucket[];
}

const NO_BUCKETS: LeasedBuckets = { requests: [], tokens: [] };

/** The limits of a caller that allow a request. */
interface CheckedLimits {
  readonly limits: NonNullable<LimitedCaller["limits"]>;
  readonly key: HolderState | null;
  readonly account: HolderState | null;
  readonly now: number;
}

/** A call whose shares are leased. */
export interface SharedDemand extends TokenEstimate {
  readonly amount: Money;
  /** Whether it takes rate, tokens and concurrency too. */
  readonly isRequest: boolean;
}

/** A share that a call needs more of. */
interface MissingShare {
  readonly share: LimitShare;
  readonly units: bigint;
  readonly limit: number;
  /** The refusal if the units are not free. */
  readonly refusal: (waitMs: number) => RateRefusal;
}

/** A budget of which a call needs a larger share. */
export interface MissingBudget {
  readonly keyId: string | null;
  readonly state: SharedBudget;
  /** The amount of the budget. */
  readonly limit: Money;
  readonly units: Money;
}

/** A state is kept at least until there are this many; then those in which nothing is used are removed. */
const MIN_CLEANUP_SIZE = 256;
/** A request whose output is not limited reserves at most this part of a limit of tokens: a tenth. */
const MAX_SHARE_DIVISOR = 10;
/** The wait that is reported when the end of an open call is awaited, which is not known. */
const CONCURRENCY_WAIT_MS = 1_000;
const MINUTE_MS = 60_000;
/** A limit of open calls below so many for each process is small: what a call leaves goes back at once. */
const SMALL_PER_GATEWAY = 4;
/** Longer than a call waits between its authentication and its admission. */
const FORMER_AFTER_MS = 300_000;

/**
 * The limits of one account and of its keys: rate, tokens, concurrency and budget. Every method is synchronous and a
 * refusal changes nothing. So a caller of the methods that does not wait between them takes all limits or none, and
 * requests cannot pass a limit together.
 *
 * Keys without limits have no state: they cost a comparison with the number of open calls.
 */
export class AccountLimiter {
  readonly #keys = new Map<string, HolderState>();
  #account: HolderState | null = null;
  #cleanupSize = MIN_CLEANUP_SIZE;

  constructor(private readonly options: AccountLimiterOptions) {}

  /** Whether the limiter can be evicted without loss: nothing is used or open, and what was spent can be read again. */
  get isIdle(): boolean {
    if (this.#account === null && this.#keys.size === 0) return true;
    const now = this.options.clock.monotonicMs();
    if (this.#account !== null && !isIdle(this.#account, now)) return false;
    for (const state of this.#keys.values()) if (!isIdle(state, now)) return false;
    return true;
  }

  /**
   * Checks the limits of rate and concurrency and takes a request and its tokens, for a call that is opened next.
   *
   * @returns The tokens that the call has reserved; null for none.
   * @throws {GatewayError} `rate_limited`, naming the limit. Nothing is taken then.
   */
  take(caller: LimitedCaller, estimate: TokenEstimate): LimitedCall["tokenLeases"] {
    const checked = this.#checked(caller, estimate);
    if (checked === null) return null;
    const { limits, key, account, now } = checked;
    const leases: NonNullable<LimitedCall["tokenLeases"]> = [];
    if (key !== null) takeOf(limits.key, { state: key, estimate, now }, leases);
    if (account !== null) takeOf(limits.account, { state: account, estimate, now }, leases);
    return leases.length === 0 ? null : leases;
  }

  /**
   * Checks the limits of rate and concurrency, and takes nothing.
   *
   * @throws {GatewayError} As {@linkcode AccountLimiter.take}.
   */
  check(caller: LimitedCaller, estimate: TokenEstimate): void {
    this.#checked(caller, estimate);
  }

  /** Null if neither the key nor its account has a limit. */
  #checked(caller: LimitedCaller, estimate: TokenEstimate): CheckedLimits | null {
    const { limits } = caller;
    const { openCalls } = this.options;
    const maxOpen = this.options.accountConcurrency?.() ?? Infinity;
    if (openCalls.size >= maxOpen) throw rateLimited(tooManyOpen("account", maxOpen));
    if (limits === null) return null;
    const now = this.options.clock.monotonicMs();
    const key = this.#stateOfKey(caller.keyId, limits.key, now);
    const account = this.#stateOfAccount(limits.account, now);
    const refusal = longerWait(
      key === null ? null : refusalOf("key", limits.key, { state: key, estimate, now }),
      account === null ? null : refusalOf("account", limits.account, { state: account, estimate, now }),
    );
    if (refusal !== null) throw rateLimited(refusal);
    return { limits, key, account, now };
  }

  /** Notes a call that is now open. */
  onOpened({ keyId, amount }: LimitedCall): void {
    if (this.#account !== null) open(this.#account, amount);
    if (this.#keys.size === 0 || keyId === null) return;
    const state = this.#keys.get(keyId);
    if (state !== undefined) open(state, amount);
  }

  /**
   * Notes a call that is no longer open, with what it used.
   *
   * @param charged Its charge.
   * @param tokens The tokens that it used.
   */
  onClosed({ keyId, amount, tokenLeases }: LimitedCall, charged: Money, tokens: number): void {
    if (tokenLeases !== null) {
      const now = this.options.clock.monotonicMs();
      for (const { bucket, reserved } of tokenLeases) bucket.settle(reserved, tokens, now);
    }
    const now = this.#now();
    if (this.#account !== null) this.#close(this.#account, amount, { charged, now });
    if (this.#keys.size === 0 || keyId === null) return;
    const state = this.#keys.get(keyId);
    if (state !== undefined) this.#close(state, amount, { charged, now });
  }

  /**
   * What a thread can lease of the limits of a caller: a part of what is left of each. Its calls are not counted while
   * they run. Null where a caller has no such limit. The budgets must be loaded.
   */
  lendable(caller: LimitedCaller): LimitUnits {
    const { limits } = caller;
    const maxOpen = this.options.accountConcurrency?.() ?? Infinity;
    const units = { calls: maxOpen - this.options.openCalls.size, requests: Infinity, tokens: Infinity };
    if (limits === null) return units;
    const now = this.options.clock.monotonicMs();
    const add = ({ rpm, tpm, concurrency }: AccessLimits, state: HolderState | null) => {
      if (state === null) return;
      if (concurrency !== undefined) units.calls = Math.min(units.calls, concurrency - state.open);
      if (rpm !== undefined) units.requests = Math.min(units.requests, state.requests?.leftAt(now) ?? 0);
      if (tpm !== undefined) units.tokens = Math.min(units.tokens, state.tokens?.leftAt(now) ?? 0);
    };
    add(limits.key, this.#stateOfKey(caller.keyId, limits.key, now));
    add(limits.account, this.#stateOfAccount(limits.account, now));
    return units;
  }

  /** The buckets of rate of a caller, of which a lease reserves units. */
  bucketsOf({ keyId, limits }: LimitedCaller): LeasedBuckets {
    if (limits === null) return NO_BUCKETS;
    const now = this.options.clock.monotonicMs();
    const [key, account] = [this.#stateOfKey(keyId, limits.key, now), this.#stateOfAccount(limits.account, now)];
    // A holder can have the bucket of a limit that was removed.
    const all = (limit: "rpm" | "tpm", bucket: "requests" | "tokens") => [
      limits.key[limit] === undefined ? null : key?.[bucket] ?? null,
      limits.account[limit] === undefined ? null : account?.[bucket] ?? null,
    ];
    return {
      requests: all("rpm", "requests").filter((bucket) => bucket !== null),
      tokens: all("tpm", "tokens").filter((bucket) => bucket !== null),
    };
  }

  /** Notes that a thread leased calls and money of a key. */
  onLeased(keyId: string, money: Money, calls: number): void {
    for (const state of this.#statesOf(keyId)) open(state, money, calls);
  }

  /**
   * Notes that a thread gave back calls and money of a key.
   *
   * @param charged The part that it charged.
   */
  onGivenBack(keyId: string, money: Money, { charged, calls }: Pick<ClosedCalls, "charged"> & { calls: number }): void {
    const now = this.#now();
    for (const state of this.#statesOf(keyId)) this.#close(state, money, { charged, calls, now });
  }

  #close(state: HolderState, amount: Money, closed: ClosedCalls): void {
    close(state, amount, closed);
    const { openShare } = state;
    const count = this.options.shares?.gateways() ?? 1;
    if (openShare === null || count < 2 || openShare.limit >= BigInt(SMALL_PER_GATEWAY * count)) return;
    openShare.giveBack().catch(() => {}); // the lease ends by itself
  }

  #statesOf(keyId: string): HolderState[] {
    return [this.#account, this.#keys.get(keyId) ?? null].filter((state) => state !== null);
  }

  /** Whether the shares of this process cover a call. Always if no other process has the limits. */
  covers(caller: LimitedCaller, demand: SharedDemand): boolean {
    if ((this.options.shares ?? null) === null || caller.limits === null) return true;
    return this.#missingShares(caller, demand).length === 0 && this.missingBudgets(caller, demand.amount).length === 0;
  }

  /** A demand for a share of a caller's limits that is under way; null if there is none. */
  pendingShare({ keyId, limits }: LimitedCaller): Promise<unknown> | null {
    if (limits === null) return null;
    for (const state of [this.#keys.get(keyId) ?? null, this.#account]) {
      if (state === null) continue;
      const { requests, tokens, openShare } = state;
      const budget = budgetOf(state, state === this.#account ? limits.account : limits.key);
      const ofBudget = budget instanceof SharedBudget && budget.hasShare ? budget.share : null;
      for (const share of [shareOf(requests), shareOf(tokens), openShare, ofBudget]) {
        const pending = share?.pending ?? null;
        if (pending !== null) return pending;
      }
    }
    return null;
  }

  /**
   * Leases the shares of rate, tokens and concurrency that a call needs more of. Another call can use them first.
   * Rejects as the store does.
   *
   * @throws {GatewayError} `rate_limited`, naming the limit, if they are not free.
   */
  async leaseShares(caller: LimitedCaller, demand: SharedDemand): Promise<void> {
    let longest: RateRefusal | null = null;
    await Promise.all(
      this.#missingShares(caller, demand).map(async ({ share, units, limit, refusal }) => {
        const isKnownShort = share.isShortOf(units);
        const answer = isKnownShort ? null : await share.lease(units, BigInt(limit));
        if (!isKnownShort && (answer === null || answer.isWhole || share.covers(units))) return;
        const waitMs = waitMsFor(share, { units, limit });
        if (!isKnownShort) share.noteShort(units, waitMs);
        longest = longerWait(longest, refusal(waitMs));
      }),
    );
    if (longest !== null) throw rateLimited(longest);
  }

  /** The budgets that a call needs a larger share of. They must be loaded. */
  missingBudgets({ keyId, limits }: LimitedCaller, units: Money): MissingBudget[] {
    const missing: MissingBudget[] = [];
    if (limits === null || units === 0n) return missing;
    const add = (holderLimits: AccessLimits, holderKey: string | null, state: HolderState | null | undefined) => {
      const { budget } = holderLimits;
      const own = budgetOf(state, holderLimits);
      if (budget === undefined || !(own instanceof SharedBudget) || own.share.covers(units)) return;
      missing.push({ keyId: holderKey, state: own, limit: budget.amount, units });
    };
    add(limits.key, keyId, this.#keys.get(keyId));
    add(limits.account, null, this.#account);
    return missing;
  }

  /** Replaces the leases of rate, tokens and concurrency that are due, and returns the budgets whose leases are. */
  renewShares(isLast: boolean): { readonly renewed: Promise<unknown>; readonly budgets: MissingBudget[] } {
    const budgets: MissingBudget[] = [];
    const renewed: Promise<unknown>[] = [];
    const renew = (keyId: string | null, state: HolderState) => {
      const { requests, tokens, openShare } = state;
      for (const share of [shareOf(requests), shareOf(tokens), openShare]) {
        if (share?.isRenewalDue(isLast)) renewed.push(share.lease(0n, share.limit));
      }
      // The lease of a former period ends by itself.
      if (state.budgets.length > 1) state.budgets = state.budgets.filter((budget) => !isFormer(budget));
      for (const budget of state.budgets) {
        if (!(budget instanceof SharedBudget) || !budget.hasShare || !budget.share.isRenewalDue(isLast)) continue;
        budgets.push({ keyId, state: budget, limit: budget.amount, units: 0n });
      }
    };
    if (this.#account !== null) renew(null, this.#account);
    for (const [keyId, state] of this.#keys) renew(keyId, state);
    return { renewed: Promise.all(renewed), budgets };
  }

  /** Whether other processes leased of a limit of a caller at the last look. */
  isHeldElsewhere(
    { keyId, limits }: LimitedCaller,
    { holder, limit }: Pick<ExceededQuota, "holder" | "limit">,
  ): boolean {
    const state = holder === "key" ? this.#keys.get(keyId) ?? null : this.#account;
    if (state === null || limits?.[holder][limit] === undefined) return false;
    const { requests, tokens, openShare } = state;
    const budget = budgetOf(state, limits[holder]);
    switch (limit) {
      case "rpm":
        return shareOf(requests)?.isHeldElsewhere ?? false;
      case "tpm":
        return shareOf(tokens)?.isHeldElsewhere ?? false;
      case "concurrency":
        return openShare?.isHeldElsewhere ?? false;
      case "budget":
        return budget instanceof SharedBudget && budget.isHeldElsewhere;
    }
  }

  /** Requires a statement for what was not free a moment ago. */
  forgetShort({ keyId }: LimitedCaller): void {
    for (const { requests, tokens, openShare } of this.#statesOf(keyId)) {
      for (const share of [shareOf(requests), shareOf(tokens), openShare]) share?.forgetShort();
    }
  }

  /** The shares of the account and of a key of which something is not in use. */
  unusedShares(keyId: string): { readonly shares: readonly LimitShare[]; readonly budgets: readonly MissingBudget[] } {
    const shares: LimitShare[] = [];
    const budgets: MissingBudget[] = [];
    const key = this.#keys.get(keyId) ?? null;
    for (const state of this.#statesOf(keyId)) {
      const { requests, tokens, openShare } = state;
      for (const share of [shareOf(requests), shareOf(tokens), openShare]) {
        if (share?.endSpare()) shares.push(share);
      }
      for (const budget of state.budgets) {
        if (!(budget instanceof SharedBudget) || !budget.hasShare || !budget.share.endSpare()) continue;
        budgets.push({ keyId: state === key ? keyId : null, state: budget, limit: budget.amount, units: 0n });
      }
    }
    return { shares, budgets };
  }

  /** Requires that the budgets are read again whose leases of others were read so long ago. Returns whether any is. */
  dropBudgetsOlderThan(ageMs: number): boolean {
    let isAnyOld = false;
    for (const state of [this.#account, ...this.#keys.values()]) {
      for (const budget of state?.budgets ?? []) {
        if (!(budget instanceof SharedBudget) || !budget.isLoaded || budget.ageMs < ageMs) continue;
        budget.invalidate();
        isAnyOld = true;
      }
    }
    return isAnyOld;
  }

  #missingShares(
    { keyId, limits }: LimitedCaller,
    { isRequest, ...estimate }: SharedDemand,
  ): MissingShare[] {
    const missing: MissingShare[] = [];
    if (limits === null || !isRequest) return missing;
    const now = this.options.clock.monotonicMs();
    const add = (holder: LimitHolder, { rpm, tpm, concurrency }: AccessLimits, state: HolderState | null) => {
      if (state === null) return;
      const need = (share: LimitShare | null, value: number, units: number, refusal: MissingShare["refusal"]) => {
        if (share === null || units === 0 || share.covers(BigInt(units))) return;
        missing.push({ share, units: BigInt(units), limit: value, refusal });
      };
      if (rpm !== undefined) {
        need(shareOf(state.requests), rpm, 1, (waitMs) => ({ holder, limit: "rpm", value: rpm, tokens: 0, waitMs }));
      }
      if (tpm !== undefined && estimate.tokens !== undefined) {
        const tokens = reservedTokens(estimate, tpm);
        need(
          shareOf(state.tokens),
          tpm,
          Math.min(tokens, tpm),
          (waitMs) => ({ holder, limit: "tpm", value: tpm, tokens, waitMs }),
        );
      }
      if (concurrency !== undefined) need(state.openShare, concurrency, 1, () => tooManyOpen(holder, concurrency));
    };
    add("key", limits.key, this.#stateOfKey(keyId, limits.key, now));
    add("account", limits.account, this.#stateOfAccount(limits.account, now));
    return missing;
  }

  /** Whether the amounts spent of a caller's budgets are known. Those that are not become {@linkcode wanted}. */
  isLoaded(caller: LimitedCaller): boolean {
    const { limits } = caller;
    if (limits === null) return true;
    const now = () => this.options.clock.monotonicMs();
    const key = this.#selected(limits.key, () => this.#stateOfKey(caller.keyId, limits.key, now()));
    const account = this.#selected(limits.account, () => this.#stateOfAccount(limits.account, now()));
    return (key === null || key.isLoaded) && (account === null || account.isLoaded);
  }

  /** The budgets whose spent amount must be read, because calls wait for it. */
  wanted(): WantedBudget[] {
    const wanted: WantedBudget[] = [];
    const add = (keyId: string | null, budgets: readonly BudgetState[] = []) => {
      for (const state of budgets) if (state.isWanted) wanted.push({ keyId, state });
    };
    add(null, this.#account?.budgets);
    for (const [keyId, { budgets }] of this.#keys) add(keyId, budgets);
    return wanted;
  }

  /** Requires that the amounts spent are read again, because others wrote to the ledger. */
  invalidateBudgets(): void {
    for (const state of [this.#account, ...this.#keys.values()]) {
      for (const budget of state?.budgets ?? []) budget.invalidate();
    }
  }

  /**
   * The budget of a caller that leaves the least; null if it has none.
   *
   * @throws {Error} If its budgets are not loaded.
   */
  budgetLeft(caller: LimitedCaller): BudgetLeft | null {
    const { limits } = caller;
    if (limits === null) return null;
    const key = budgetLeftOf("key", limits.key, this.#keys.get(caller.keyId));
    const account = budgetLeftOf("account", limits.account, this.#account);
    if (key === null || account === null) return key ?? account;
    return account.left < key.left ? account : key;
  }

  /** What a caller's limits of rate have left: of key and account the one that leaves less. Null without any. */
  ratesLeft(caller: LimitedCaller): RatesLeft | null {
    const { limits } = caller;
    if (limits === null) return null;
    const { key, account } = limits;
    if ((key.rpm ?? key.tpm ?? account.rpm ?? account.tpm) === undefined) return null;
    const now = this.options.clock.monotonicMs();
    const ofKey = ratesLeftOf(key, this.#keys.get(caller.keyId) ?? null, now);
    const ofAccount = ratesLeftOf(account, this.#account, now);
    return {
      ...lessLeft("requests", ofKey, ofAccount),
      ...lessLeft("tokens", ofKey, ofAccount),
    };
  }

  /**
   * What all limits of a caller have left.
   *
   * @throws {Error} If its budgets are not loaded.
   */
  limitsLeft(caller: LimitedCaller): Readonly<Record<LimitHolder, LimitsLeft>> {
    const { limits } = caller;
    if (limits === null) return { key: {}, account: {} };
    const now = this.options.clock.monotonicMs();
    return {
      key: limitsLeftOf("key", limits.key, this.#stateOfKey(caller.keyId, limits.key, now), now),
      account: limitsLeftOf("account", limits.account, this.#stateOfAccount(limits.account, now), now),
    };
  }

  #now(): number {
    return this.options.now?.() ?? this.options.clock.now();
  }

  #selected(limits: AccessLimits, stateOf: () => HolderState | null): BudgetState | null {
    if (limits.budget === undefined) return null;
    const state = budgetOf(stateOf(), limits);
    state?.select(this.#now());
    return state;
  }

  /** @param now The one reading of the clock of an operation: a bucket must not be newer than its first use. */
  #stateOfAccount(limits: AccessLimits, now: number): HolderState | null {
    if (!hasLimit(limits)) return null;
    this.#account ??= this.#newState(() => true);
    return this.#withParts(this.#account, limits, { isOwn: () => true, now, keyId: "" });
  }

  /** @param now As for an account. */
  #stateOfKey(keyId: string, limits: AccessLimits, now: number): HolderState | null {
    if (!hasLimit(limits)) return null;
    const isOwn = (call: LimitedCall) => call.keyId === keyId;
    let state = this.#keys.get(keyId);
    if (state === undefined) {
      if (this.#keys.size >= this.#cleanupSize) this.#removeIdle();
      state = this.#newState(isOwn);
      this.#keys.set(keyId, state);
    }
    return this.#withParts(state, limits, { isOwn, now, keyId });
  }

  /** Counts the calls that were open before the limit was set. */
  #newState(isOwn: (call: LimitedCall) => boolean): HolderState {
    let count = 0;
    for (const call of this.options.openCalls) if (isOwn(call)) count += call.calls ?? 1;
    return { open: count, requests: null, tokens: null, budgets: [], openShare: null };
  }

  #withParts(
    state: HolderState,
    { rpm, tpm, concurrency, budget }: AccessLimits,
    { isOwn, now, keyId }: {
      readonly isOwn: (call: LimitedCall) => boolean;
      readonly now: number;
      readonly keyId: string;
    },
  ): HolderState {
    const { shares = null } = this.options;
    if (shares !== null) {
      const { account } = shares;
      const share = (limit: string, refills: boolean) => new LimitShare([limit, account, keyId], refills, shares);
      if (rpm !== undefined) state.requests ??= new SharedRateBucket(rpm, now, share("rpm", true));
      if (tpm !== undefined) state.tokens ??= new SharedRateBucket(tpm, now, share("tpm", true));
      if (concurrency !== undefined && state.openShare === null) {
        state.openShare = share("concurrency", false);
        state.openShare.reserve(BigInt(state.open));
      }
    }
    if (rpm !== undefined) (state.requests ??= new RateBucket(rpm, now)).setLimit(rpm, now);
    if (tpm !== undefined) (state.tokens ??= new RateBucket(tpm, now)).setLimit(tpm, now);
    if (budget !== undefined && state.budgets.every(({ per }) => per !== budget.per)) {
      const { per } = budget;
      const reserved = this.#reservedBy(isOwn);
      const added = shares === null
        ? new BudgetState(per, reserved)
        : new SharedBudget({ per, holder: [shares.account, keyId] }, reserved, shares);
      state.budgets = [...state.budgets, added];
    }
    return state;
  }

  #reservedBy(isOwn: (call: LimitedCall) => boolean): Money {
    let reserved = 0n;
    for (const call of this.options.openCalls) if (isOwn(call)) reserved += call.amount;
    return reserved;
  }

  // Runs only when the number of states has doubled, so that the average cost per call stays constant.
  #removeIdle(): void {
    const now = this.options.clock.monotonicMs();
    for (const [keyId, state] of this.#keys) if (isIdle(state, now)) this.#keys.delete(keyId);
    this.#cleanupSize = Math.max(MIN_CLEANUP_SIZE, 2 * this.#keys.size);
  }
}

/** The time in which a limit per minute regains what is missing, if others return nothing. */
function waitMsFor(share: LimitShare, { units, limit }: { readonly units: bigint; readonly limit: number }): number {
  if (limit === 0) return MINUTE_MS;
  const missing = Number(units) - (share.left ?? 0);
  return Math.max(1, Math.ceil(missing * MINUTE_MS / limit));
}

function shareOf(bucket: RateBucket | null): LimitShare | null {
  return bucket instanceof SharedRateBucket ? bucket.share : null;
}

/** The state of the budget that a holder has by these limits; null if it has none. */
function budgetOf(state: HolderState | null | undefined, { budget }: AccessLimits): BudgetState | null {
  if (budget === undefined) return null;
  return state?.budgets.find(({ per }) => per === budget.per) ?? null;
}

/** Whether no call asked for a budget for so long that all have the limit that replaced it. */
function isFormer(budget: BudgetState): boolean {
  return budget instanceof SharedBudget && budget.unselectedMs > FORMER_AFTER_MS;
}

/** Whether an account or a key has a limit that is counted here. */
function hasLimit({ rpm, tpm, concurrency, budget }: AccessLimits): boolean {
  return rpm !== undefined || tpm !== undefined || concurrency !== undefined || budget !== undefined;
}

function isIdle({ open, requests, tokens, budgets, openShare }: HolderState, now: number): boolean {
  if (openShare !== null && !openShare.isIdle) return false;
  return open === 0 && (requests === null || requests.isFull(now)) && (tokens === null || tokens.isFull(now)) &&
    budgets.every((budget) => budget.isIdle);
}

function open(state: HolderState, amount: Money, calls = 1): void {
  state.open += calls;
  state.openShare?.reserve(BigInt(calls));
  for (const budget of state.budgets) budget.reserve(amount);
}

interface ClosedCalls {
  readonly charged: Money;
  /** Unix milliseconds. */
  readonly now: number;
  /** Default: one. */
  readonly calls?: number;
}

function close(state: HolderState, amount: Money, { charged, now, calls = 1 }: ClosedCalls): void {
  state.open -= calls;
  state.openShare?.settle(BigInt(calls), 0n);
  for (const budget of state.budgets) budget.settle(amount, charged, now);
}

interface Demand {
  readonly state: HolderState;
  readonly estimate: TokenEstimate;
  readonly now: number;
}

/** The limit of one holder that refuses a request for longest; null if none does. */
function refusalOf(holder: LimitHolder, limits: AccessLimits, { state, estimate, now }: Demand): RateRefusal | null {
  const { rpm, tpm, concurrency } = limits;
  let refusal: RateRefusal | null = null;
  if (concurrency !== undefined && state.open >= concurrency) refusal = tooManyOpen(holder, concurrency);
  if (rpm !== undefined && state.requests !== null) {
    const waitMs = state.requests.waitMs(1, now);
    if (waitMs > 0) refusal = longerWait(refusal, { holder, limit: "rpm", value: rpm, tokens: 0, waitMs });
  }
  if (tpm !== undefined && state.tokens !== null && estimate.tokens !== undefined) {
    const tokens = reservedTokens(estimate, tpm);
    const waitMs = state.tokens.waitMs(tokens, now);
    if (waitMs > 0) refusal = longerWait(refusal, { holder, limit: "tpm", value: tpm, tokens, waitMs });
  }
  return refusal;
}

function takeOf(
  { rpm, tpm }: AccessLimits,
  { state, estimate, now }: Demand,
  leases: NonNullable<LimitedCall["tokenLeases"]>,
): void {
  if (rpm !== undefined) state.requests?.use(1, now);
  if (tpm === undefined || state.tokens === null || estimate.tokens === undefined) return;
  const reserved = state.tokens.reserve(reservedTokens(estimate, tpm));
  leases.push({ bucket: state.tokens, reserved });
}

/**
 * The tokens that a request reserves of a limit. What was only assumed is reserved up to a tenth of the limit, so that
 * requests without an output limit can run side by side.
 */
function reservedTokens({ tokens = 0, knownTokens = tokens }: TokenEstimate, tpm: number): number {
  return Math.max(1, Math.min(tokens, Math.max(knownTokens, Math.floor(tpm / MAX_SHARE_DIVISOR))));
}

function tooManyOpen(holder: LimitHolder, value: number): RateRefusal {
  return { holder, limit: "concurrency", value, tokens: 0, waitMs: CONCURRENCY_WAIT_MS };
}

function longerWait(one: RateRefusal | null, other: RateRefusal | null): RateRefusal | null {
  if (one === null || other === null) return one ?? other;
  return other.waitMs > one.waitMs ? other : one;
}

function budgetLeftOf(
  holder: LimitHolder,
  limits: AccessLimits,
  ofHolder: HolderState | null | undefined,
): BudgetLeft | null {
  const { budget } = limits;
  if (budget === undefined) return null;
  const state = budgetOf(ofHolder, limits);
  if (state === null) throw new Error("The budget was not loaded");
  return { ...budget, holder, left: state.leftOf(budget), resetAt: state.until };
}

function ratesLeftOf({ rpm, tpm }: AccessLimits, state: HolderState | null, now: number): RatesLeft {
  return {
    ...(rpm === undefined ? {} : { requests: rateLeftOf(rpm, state?.requests ?? null, now) }),
    ...(tpm === undefined ? {} : { tokens: rateLeftOf(tpm, state?.tokens ?? null, now) }),
  };
}

function rateLeftOf(limit: number, bucket: RateBucket | null, now: number): RateLeft {
  if (bucket === null) return { limit, left: limit, fullInMs: 0 };
  bucket.setLimit(limit, now);
  return { limit, left: bucket.leftAt(now), fullInMs: bucket.fullInMs(now) };
}

function lessLeft(name: keyof RatesLeft, key: RatesLeft, account: RatesLeft): RatesLeft {
  const [one, other] = [key[name], account[name]];
  const less = one !== undefined && other !== undefined && other.left < one.left ? other : one ?? other;
  return less === undefined ? {} : { [name]: less };
}

function limitsLeftOf(
  holder: LimitHolder,
  limits: AccessLimits,
  state: HolderState | null,
  now: number,
): LimitsLeft {
  const { concurrency } = limits;
  const budget = budgetLeftOf(holder, limits, state);
  return {
    ...ratesLeftOf(limits, state, now),
    ...(concurrency === undefined
      ? {}
      : { concurrency: { limit: concurrency, left: Math.max(0, concurrency - (state?.open ?? 0)) } }),
    ...(budget === null ? {} : { budget }),
  };
}
