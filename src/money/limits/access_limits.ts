import type { EndpointName } from "../../platform/endpoints/limit_name.ts";
import type { CaptureMode } from "../../platform/http/request/body_capture.ts";
import type { Money } from "../../platform/lib/basics/money.ts";

/** The period of a budget. Days start at 00:00 UTC, weeks on Monday, months on the first; `total` never ends. */
export type BudgetPeriod = "day" | "week" | "month" | "total";

/** The most that may be spent in one period. */
export interface Budget {
  /** Above zero. */
  readonly amount: Money;
  readonly per: BudgetPeriod;
}

/** What a key or an account may do. A field that is absent does not limit. Plain values, so that threads take it. */
export interface AccessLimits {
  /** Models that may be used: ids, slugs, aliases, and patterns of ids with `*`. At least one. */
  readonly models?: readonly string[];
  /** Endpoints that may be called. At least one. */
  readonly endpoints?: readonly EndpointName[];
  /** Providers that may serve requests, by their names in the configuration. At least one. */
  readonly providers?: readonly string[];
  /** Addresses and CIDR blocks that requests may come from. At least one. */
  readonly ipAllow?: readonly string[];
  /** Requests per minute. */
  readonly rpm?: number;
  /** Input and output tokens per minute. */
  readonly tpm?: number;
  /** Requests in progress at one time. */
  readonly concurrency?: number;
  readonly budget?: Budget;
}

/** The limits of a caller: those of the key and, above them, those of its account. A request must keep both. */
export interface EffectiveLimits {
  readonly key: AccessLimits;
  readonly account: AccessLimits;
  /** Unix milliseconds from which the key is refused, by itself or with its account; null if neither expires. */
  readonly expiresAt: number | null;
}

const NO_LIMITS: AccessLimits = Object.freeze({});

/** The fields of a stored key or account that limit callers. */
export interface StoredLimits {
  readonly limits?: AccessLimits;
  readonly expiresAt?: number;
}

/** Which requests have their bodies kept for the operator. */
export type CaptureSetting = "none" | CaptureMode;

/** Whether the gateway makes use of a vendor's prompt cache by itself. */
export type PromptCachingSetting = "auto" | "off";

/** The body of events about batches: the gateway's envelope, or an event as OpenAI sends it. */
export type WebhookFormat = "service" | "openai";

/** The capture of a key, which goes before that of its account; null for none. */
export function captureOf(key?: CaptureSetting, account?: CaptureSetting): CaptureMode | null {
  const setting = key ?? account ?? "none";
  return setting === "none" ? null : setting;
}

/** Combines the limits of a key and its account; null if neither limits anything. */
export function effectiveLimitsOf(key: StoredLimits, account: StoredLimits): EffectiveLimits | null {
  const expiresAt = Math.min(key.expiresAt ?? Infinity, account.expiresAt ?? Infinity);
  if (key.limits === undefined && account.limits === undefined && expiresAt === Infinity) return null;
  return {
    key: key.limits ?? NO_LIMITS,
    account: account.limits ?? NO_LIMITS,
    expiresAt: expiresAt === Infinity ? null : expiresAt,
  };
}
