import type { Money } from "../../platform/lib/basics/money.ts";

/** The kinds of reasons of a difference. Source: docs/reconcile.md#reasons. */
export const REASON_KINDS = [
  "rounding",
  "not_seen",
  "not_billed",
  "not_of_a_model",
  "condition",
  "price",
  "likely_price",
  "unpriced",
  "tokens",
  "estimated",
  "overnight",
  "unknown",
] as const;

/** One of {@linkcode REASON_KINDS}. */
export type ReasonKind = typeof REASON_KINDS[number];

/** What can explain a difference. */
export interface Reason {
  readonly kind: ReasonKind;
  /** For people, one sentence without a final point. */
  readonly text: string;
  /** The price key; null if it is about all of them. */
  readonly dimension: string | null;
  /** What it adds to the difference; null if that is not known. */
  readonly amount: Money | null;
  /** The ids of requests to look at, the most expensive ones first. */
  readonly requests: readonly string[];
}
