import { isFallbackAllowed, MEDIA_FALLBACK } from "../../../vendors/routing/fallback_rule.ts";
import type { FailureKind, UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { VideoTask } from "../tasks/task.ts";

/** How long temporary rejections (busy, unavailable, unreachable) are retried. */
const RETRY_PERIOD_MS = 600_000;
const MAX_BACKOFF_MS = 60_000;

/** Precedence of rejections for the task's error: temporary ones first, then those that the operator must fix. */
const PRECEDENCE: readonly FailureKind[] = ["rate_limited", "unavailable", "timeout", "unreachable", "broken", "auth"];

/** Whether temporary rejections are still retried: ten minutes from the first call. */
export function isWithinRetryPeriod({ firstOfferedAt, createdAt }: VideoTask, now: number): boolean {
  return now - (firstOfferedAt ?? createdAt) < RETRY_PERIOD_MS;
}

/** Whether another provider may get the task: no job was started, and the order is valid. */
export function isTemporaryRejection(failure: UpstreamFailure): boolean {
  return isFallbackAllowed(failure, MEDIA_FALLBACK) || (isUnknownModel(failure) && failure.facts.accepted === "no");
}

/** Whether an adapter rejected the order before sending it, because its vendor's API has no fields for it. */
export function isUnsupportedOrder({ kind, facts }: UpstreamFailure): boolean {
  const { status, vendorCode, accepted, isContentRefusal } = facts;
  return kind === "invalid" && accepted === "no" && status === null && vendorCode === undefined && !isContentRefusal;
}

/** Whether only the operator can fix the failure: the key, the vendor account or the model name is wrong. */
export function needsOperator(failure: UpstreamFailure): boolean {
  return failure.kind === "auth" || failure.kind === "forbidden" || isUnknownModel(failure);
}

/** Returns the rejection that a task fails with, independent of their order. */
export function mainRejection(refusals: readonly UpstreamFailure[]): UpstreamFailure | undefined {
  return [...refusals].sort((a, b) => rankOf(a) - rankOf(b))[0];
}

/**
 * Returns the delay before the providers are tried again: 2^attempt seconds, at most a minute, ±25 %, or the shortest
 * `Retry-After`.
 *
 * @param random Returns a uniform random number in [0, 1).
 * @returns Whole milliseconds.
 */
export function backoffMs(refusals: readonly UpstreamFailure[], attempt: number, random: () => number): number {
  const usualMs = Math.min(2 ** attempt * 1_000, MAX_BACKOFF_MS) * (0.75 + 0.5 * random());
  const requests = refusals.map(({ facts }) => (facts.retryAfterSeconds ?? 0) * 1_000);
  const requestedMs = requests.length === 0 ? 0 : Math.min(...requests, RETRY_PERIOD_MS);
  return Math.round(Math.max(usualMs, requestedMs));
}

/** A create request names only a model and an endpoint, so a 404 refers to these. */
function isUnknownModel({ facts }: UpstreamFailure): boolean {
  return facts.status === 404 && !facts.isContentRefusal;
}

function rankOf({ kind }: UpstreamFailure): number {
  const rank = PRECEDENCE.indexOf(kind);
  return rank < 0 ? PRECEDENCE.length : rank;
}
