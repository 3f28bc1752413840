import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import type { AccessLimits } from "./access_limits.ts";
import { BudgetState } from "./budget_state.ts";
import { LimitShare, type ShareOptions } from "./limit_share.ts";
import type { LimitedCall } from "./limited_caller.ts";
import { RateBucket } from "./rate_bucket.ts";
import { SharedBudget, SharedRateBucket } from "./shared_limits.ts";

/** The dependencies of {@linkcode LimitStates}. */
export interface LimitStatesOptions {
  readonly clock: Clock;
  /** The open calls of the account. */
  readonly openCalls: Iterable<LimitedCall> & { readonly size: number };
  /** Shares of the limits, if other processes have the same ones. Default: none do. */
  readonly shares?: (ShareOptions & { readonly account: string; readonly gateways: () => number }) | null;
}

/** What one key or account uses of its limits. Parts are created when a limit applies first. */
export interface HolderState {
  /** The open calls. */
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

/** A state is kept at least until there are this many; then those in which nothing is used are removed. */
const MIN_CLEANUP_SIZE = 256;

/** What an account and its keys use of their limits. Those without limits have no state. */
export class LimitStates {
  readonly #keys = new Map<string, HolderState>();
  #account: HolderState | null = null;
  #cleanupSize = MIN_CLEANUP_SIZE;

  constructor(private readonly options: LimitStatesOptions) {}

  /** The state of the account; null if it has had no limit. */
  get account(): HolderState | null {
    return this.#account;
  }

  /** The state of a key; null if it has had no limit. */
  key(keyId: string | null): HolderState | null {
    if (this.#keys.size === 0 || keyId === null) return null;
    return this.#keys.get(keyId) ?? null;
  }

  /** The states of the account and of a key that exist. */
  of(keyId: string): HolderState[] {
    return [this.#account, this.key(keyId)].filter((state) => state !== null);
  }

  /** All states, with the key of each; null for that of the account. */
  *all(): Iterable<readonly [keyId: string | null, state: HolderState]> {
    if (this.#account !== null) yield [null, this.#account];
    yield* this.#keys;
  }

  /** Whether nothing is used or open, and what was spent can be read again. */
  get isIdle(): boolean {
    if (this.#account === null && this.#keys.size === 0) return true;
    const now = this.options.clock.monotonicMs();
    if (this.#account !== null && !isIdle(this.#account, now)) return false;
    for (const state of this.#keys.values()) if (!isIdle(state, now)) return false;
    return true;
  }

  /**
   * The state of the account with all parts that its limits need; null without limits.
   *
   * @param now The one reading of the clock of an operation: a bucket must not be newer than its first use.
   */
  withAccount(limits: AccessLimits, now: number): HolderState | null {
    if (!hasLimit(limits)) return null;
    this.#account ??= this.#newState(() => true);
    return this.#withParts(this.#account, limits, { isOwn: () => true, now, keyId: "" });
  }

  /** The state of a key, as {@linkcode LimitStates.withAccount}. */
  withKey(keyId: string, limits: AccessLimits, now: number): HolderState | null {
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

/** The state of the budget that a holder has by these limits; null if it has none. */
export function budgetStateOf(state: HolderState | null, { budget }: AccessLimits): BudgetState | null {
  if (budget === undefined) return null;
  return state?.budgets.find(({ per }) => per === budget.per) ?? null;
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
