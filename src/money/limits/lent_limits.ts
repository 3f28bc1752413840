import type { AccessLimits } from "./access_limits.ts";
import type { HolderState, LimitStates } from "./limit_states.ts";
import type { LimitedCaller } from "./limited_caller.ts";
import type { RateBucket } from "./rate_bucket.ts";

/** What a thread can lease of the limits of a caller; infinite without a limit. */
export interface LimitUnits {
  readonly calls: number;
  readonly requests: number;
  readonly tokens: number;
}

/** What a thread has used of units of rate. */
export interface UsedUnits {
  readonly requests: number;
  readonly tokens: number;
}

/** The buckets of a caller's limits of rate. */
export interface LeasedBuckets {
  readonly requests: readonly RateBucket[];
  readonly tokens: readonly RateBucket[];
}

/** The dependencies of {@linkcode LentLimits}. */
export interface LentLimitsOptions {
  readonly monotonicMs: () => number;
  /** The open calls that the account can have beside those that it has; infinite without a limit. */
  readonly freeCalls: () => number;
}

const NO_BUCKETS: LeasedBuckets = { requests: [], tokens: [] };

/**
 * What threads have of the limits of one account and its keys. Units that a thread leases are reserved in the buckets
 * that refuse calls of this thread. What a thread reports is used in their place, or given back.
 */
export class LentLimits {
  constructor(private readonly states: LimitStates, private readonly options: LentLimitsOptions) {}

  /** What is free of each limit of a caller. */
  free(caller: LimitedCaller): LimitUnits {
    const { limits, keyId } = caller;
    const units = { calls: this.options.freeCalls(), requests: Infinity, tokens: Infinity };
    if (limits === null) return units;
    const now = this.options.monotonicMs();
    const add = ({ rpm, tpm, concurrency }: AccessLimits, state: HolderState | null) => {
      if (state === null) return;
      if (concurrency !== undefined) units.calls = Math.min(units.calls, concurrency - state.open);
      if (rpm !== undefined) units.requests = Math.min(units.requests, state.requests?.leftAt(now) ?? 0);
      if (tpm !== undefined) units.tokens = Math.min(units.tokens, state.tokens?.leftAt(now) ?? 0);
    };
    add(limits.key, this.states.withKey(keyId, limits.key, now));
    add(limits.account, this.states.withAccount(limits.account, now));
    return units;
  }

  /** The buckets of rate of a caller, of which a lease reserves units. */
  bucketsOf({ keyId, limits }: LimitedCaller): LeasedBuckets {
    if (limits === null) return NO_BUCKETS;
    const now = this.options.monotonicMs();
    const [key, account] = [
      this.states.withKey(keyId, limits.key, now),
      this.states.withAccount(limits.account, now),
    ];
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

  /** Reserves the units of rate that a thread leases. */
  reserve(buckets: LeasedBuckets, { requests, tokens }: UsedUnits): void {
    for (const bucket of buckets.requests) bucket.reserve(requests);
    for (const bucket of buckets.tokens) bucket.reserve(tokens);
  }

  /** Ends the reservation of units that a thread does not have any more, and uses what it used. */
  settle(buckets: LeasedBuckets, { requests, tokens }: UsedUnits, used: UsedUnits): void {
    const now = this.options.monotonicMs();
    for (const bucket of buckets.requests) bucket.settle(requests, used.requests, now);
    for (const bucket of buckets.tokens) bucket.settle(tokens, used.tokens, now);
  }
}
