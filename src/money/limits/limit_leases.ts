import type { ExceededQuota } from "../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import type { AccessLimits } from "./access_limits.ts";
import type { BudgetState } from "./budget_state.ts";
import { longerWait, reservedTokens, tooManyOpen } from "./limit_check.ts";
import { rateLimited, type RateRefusal } from "./limit_refusal.ts";
import type { LimitShare } from "./limit_share.ts";
import { budgetStateOf, type HolderState, type LimitStates } from "./limit_states.ts";
import type { LimitedCaller, LimitHolder, TokenEstimate } from "./limited_caller.ts";
import type { RateBucket } from "./rate_bucket.ts";
import { SharedBudget, SharedRateBucket } from "./shared_limits.ts";

/** A call whose shares are leased. */
export interface SharedDemand extends TokenEstimate {
  readonly amount: Money;
  /** Whether it takes rate, tokens and concurrency too. */
  readonly isRequest: boolean;
}

/** A budget of which a call needs a larger share. */
export interface MissingBudget {
  readonly keyId: string | null;
  readonly state: SharedBudget;
  /** The amount of the budget. */
  readonly limit: Money;
  readonly units: Money;
}

/** The dependencies of {@linkcode LimitLeases}. */
export interface LimitLeasesOptions {
  readonly monotonicMs: () => number;
  /** The processes that have the limits, with this one; null if no other has them. */
  readonly gateways: (() => number) | null;
}

/** A share that a call needs more of. */
interface MissingShare {
  readonly share: LimitShare;
  readonly units: bigint;
  readonly limit: number;
  /** The refusal if the units are not free. */
  readonly refusal: (waitMs: number) => RateRefusal;
}

const MINUTE_MS = 60_000;
/** A limit of open calls below so many for each process is small: what a call leaves goes back at once. */
const SMALL_PER_GATEWAY = 4;
/** Longer than a call waits between its authentication and its admission. */
const FORMER_AFTER_MS = 300_000;

/**
 * What this process leases of the limits of one account and its keys, which other processes have too. A call that the
 * shares do not cover leases more of those that it lacks.
 */
export class LimitLeases {
  constructor(private readonly states: LimitStates, private readonly options: LimitLeasesOptions) {}

  /** Whether the shares of this process cover a call. Always if no other process has the limits. */
  covers(caller: LimitedCaller, demand: SharedDemand): boolean {
    if (this.options.gateways === null || caller.limits === null) return true;
    return this.#missingShares(caller, demand).length === 0 && this.missingBudgets(caller, demand.amount).length === 0;
  }

  /** A demand for a share of a caller's limits that is under way; null if there is none. */
  pending({ keyId, limits }: LimitedCaller): Promise<unknown> | null {
    if (limits === null) return null;
    const { account } = this.states;
    for (const state of [this.states.key(keyId), account]) {
      if (state === null) continue;
      const budget = budgetStateOf(state, state === account ? limits.account : limits.key);
      const ofBudget = budget instanceof SharedBudget && budget.hasShare ? budget.share : null;
      for (const share of [...sharesOf(state), ofBudget]) {
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
  async lease(caller: LimitedCaller, demand: SharedDemand): Promise<void> {
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
    const add = (holderLimits: AccessLimits, holderKey: string | null, state: HolderState | null) => {
      const { budget } = holderLimits;
      const own = budgetStateOf(state, holderLimits);
      if (budget === undefined || !(own instanceof SharedBudget) || own.share.covers(units)) return;
      missing.push({ keyId: holderKey, state: own, limit: budget.amount, units });
    };
    add(limits.key, keyId, this.states.key(keyId));
    add(limits.account, null, this.states.account);
    return missing;
  }

  /** Replaces the leases of rate, tokens and concurrency that are due, and returns the budgets whose leases are. */
  renew(isLast: boolean): { readonly renewed: Promise<unknown>; readonly budgets: MissingBudget[] } {
    const budgets: MissingBudget[] = [];
    const renewed: Promise<unknown>[] = [];
    for (const [keyId, state] of this.states.all()) {
      for (const share of sharesOf(state)) {
        if (share?.isRenewalDue(isLast)) renewed.push(share.lease(0n, share.limit));
      }
      // The lease of a former period ends by itself.
      if (state.budgets.length > 1) state.budgets = state.budgets.filter((budget) => !isFormer(budget));
      for (const budget of state.budgets) {
        if (!(budget instanceof SharedBudget) || !budget.hasShare || !budget.share.isRenewalDue(isLast)) continue;
        budgets.push({ keyId, state: budget, limit: budget.amount, units: 0n });
      }
    }
    return { renewed: Promise.all(renewed), budgets };
  }

  /** Whether other processes leased of a limit of a caller at the last look. */
  isHeldElsewhere(
    { keyId, limits }: LimitedCaller,
    { holder, limit }: Pick<ExceededQuota, "holder" | "limit">,
  ): boolean {
    const state = holder === "key" ? this.states.key(keyId) : this.states.account;
    if (state === null || limits?.[holder][limit] === undefined) return false;
    const [requests, tokens, open] = sharesOf(state);
    const budget = budgetStateOf(state, limits[holder]);
    switch (limit) {
      case "rpm":
        return requests?.isHeldElsewhere ?? false;
      case "tpm":
        return tokens?.isHeldElsewhere ?? false;
      case "concurrency":
        return open?.isHeldElsewhere ?? false;
      case "budget":
        return budget instanceof SharedBudget && budget.isHeldElsewhere;
    }
  }

  /** Requires a statement for what was not free a moment ago. */
  forgetShort({ keyId }: LimitedCaller): void {
    for (const state of this.states.of(keyId)) for (const share of sharesOf(state)) share?.forgetShort();
  }

  /** The shares of the account and of a key of which something is not in use. */
  unused(keyId: string): { readonly shares: readonly LimitShare[]; readonly budgets: readonly MissingBudget[] } {
    const shares: LimitShare[] = [];
    const budgets: MissingBudget[] = [];
    const key = this.states.key(keyId);
    for (const state of this.states.of(keyId)) {
      for (const share of sharesOf(state)) if (share?.endSpare()) shares.push(share);
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
    for (const [, { budgets }] of this.states.all()) {
      for (const budget of budgets) {
        if (!(budget instanceof SharedBudget) || !budget.isLoaded || budget.ageMs < ageMs) continue;
        budget.invalidate();
        isAnyOld = true;
      }
    }
    return isAnyOld;
  }

  /** Returns the place that a call left, if the limit is small: the next call may be at another process. */
  onClosed({ openShare }: HolderState): void {
    const count = this.options.gateways?.() ?? 1;
    if (openShare === null || count < 2 || openShare.limit >= BigInt(SMALL_PER_GATEWAY * count)) return;
    openShare.giveBack().catch(() => {}); // the lease ends by itself
  }

  #missingShares({ keyId, limits }: LimitedCaller, { isRequest, ...estimate }: SharedDemand): MissingShare[] {
    if (limits === null || !isRequest) return [];
    const now = this.options.monotonicMs();
    return [
      ...missingOf("key", limits.key, { state: this.states.withKey(keyId, limits.key, now), estimate }),
      ...missingOf("account", limits.account, { state: this.states.withAccount(limits.account, now), estimate }),
    ];
  }
}

/** The shares of one holder's limits of rate, tokens and open calls; null where no other process has the limit. */
function sharesOf(
  { requests, tokens, openShare }: HolderState,
): readonly [requests: LimitShare | null, tokens: LimitShare | null, open: LimitShare | null] {
  return [shareOf(requests), shareOf(tokens), openShare];
}

function shareOf(bucket: RateBucket | null): LimitShare | null {
  return bucket instanceof SharedRateBucket ? bucket.share : null;
}

/** The shares of one holder's limits that do not cover a request. */
function missingOf(
  holder: LimitHolder,
  { rpm, tpm, concurrency }: AccessLimits,
  { state, estimate }: { readonly state: HolderState | null; readonly estimate: TokenEstimate },
): MissingShare[] {
  const missing: MissingShare[] = [];
  if (state === null) return missing;
  const [requests, tokens, open] = sharesOf(state);
  const need = (share: LimitShare | null, limit: number, units: number, refusal: MissingShare["refusal"]) => {
    if (share === null || units === 0 || share.covers(BigInt(units))) return;
    missing.push({ share, units: BigInt(units), limit, refusal });
  };
  if (rpm !== undefined) {
    need(requests, rpm, 1, (waitMs) => ({ holder, limit: "rpm", value: rpm, tokens: 0, waitMs }));
  }
  if (tpm !== undefined && estimate.tokens !== undefined) {
    const reserved = reservedTokens(estimate, tpm);
    const refusal = (waitMs: number): RateRefusal => ({ holder, limit: "tpm", value: tpm, tokens: reserved, waitMs });
    need(tokens, tpm, Math.min(reserved, tpm), refusal);
  }
  if (concurrency !== undefined) need(open, concurrency, 1, () => tooManyOpen(holder, concurrency));
  return missing;
}

/** The time in which a limit per minute regains what is missing, if others return nothing. */
function waitMsFor(share: LimitShare, { units, limit }: { readonly units: bigint; readonly limit: number }): number {
  if (limit === 0) return MINUTE_MS;
  const missing = Number(units) - (share.left ?? 0);
  return Math.max(1, Math.ceil(missing * MINUTE_MS / limit));
}

/** Whether no call asked for a budget for so long that all have the limit that replaced it. */
function isFormer(budget: BudgetState): boolean {
  return budget instanceof SharedBudget && budget.unselectedMs > FORMER_AFTER_MS;
}
