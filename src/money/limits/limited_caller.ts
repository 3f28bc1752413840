import type { Money } from "../../platform/lib/basics/money.ts";
import type { AccessLimits } from "./access_limits.ts";
import type { RateBucket } from "./rate_bucket.ts";

/** A key and its account, with their limits. */
export interface LimitedCaller {
  readonly keyId: string;
  readonly accountId: string;
  /** Null if neither has a limit. */
  readonly limits: { readonly key: AccessLimits; readonly account: AccessLimits } | null;
}

/** Whose limit it is. */
export type LimitHolder = "key" | "account";

/** The tokens that a request may use. */
export interface TokenEstimate {
  /** At most this many, by the limits that it names or that its vendor is sent. Absent if it uses no tokens. */
  readonly tokens?: number | undefined;
  /**
   * The part that the request must be able to use. Absent if it is all of `tokens`. The rest is assumed, because the
   * request has no output limit or refers to context that it does not include.
   */
  readonly knownTokens?: number | undefined;
}

/** Tokens that a call has reserved of a limit. */
export interface HeldTokens {
  readonly bucket: RateBucket;
  readonly reserved: number;
}

/** A call in progress. */
export interface LimitedCall {
  /** Null for work that no key's limits apply to. */
  readonly keyId: string | null;
  /** The money that it has reserved. */
  readonly amount: Money;
  /** Null if it has reserved none. */
  tokenLeases: HeldTokens[] | null;
  /** The number of calls that it stands for, if a thread leases calls. Absent: one. */
  readonly calls?: number;
}
