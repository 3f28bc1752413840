import { isFallbackAllowed, MEDIA_FALLBACK } from "../../routing/fallback_rule.ts";
import type { FailureKind, UpstreamFailure } from "../../upstreams/failure.ts";
import type { VideoTask } from "../tasks/task.ts";

/** How long vendors that refuse for now (busy, down, not reached) are tried again. */
const PATIENCE_MS = 600_000;
const MAX_BACKOFF_MS = 60_000;

/** Which of several refusals is a task's error: first what passes, then what the operator must mend. */
const RANKS: readonly FailureKind[] = ["rate_limited", "unavailable", "timeout", "unreachable", "broken", "auth"];

/** Whether vendors that refuse for now are still waited for: ten minutes from the first call. */
export function isPatient({ firstOfferedAt, createdAt }: VideoTask, now: number): boolean {
  return now - (firstOfferedAt ?? createdAt) < PATIENCE_MS;
}

/** Whether another provider may have the task: nothing was begun, and the order is not at fault. */
export function isRefusalForNow(failure: UpstreamFailure): boolean {
  return isFallbackAllowed(failure, MEDIA_FALLBACK) || (isUnknownModel(failure) && failure.facts.accepted === "no");
}

/** Whether an adapter refused the order before it sent anything, as its vendor has no words for it. */
export function isAdaptersOwn({ kind, facts }: UpstreamFailure): boolean {
  const { status, vendorCode, accepted, isContentRefusal } = facts;
  return kind === "invalid" && accepted === "no" && status === null && vendorCode === undefined && !isContentRefusal;
}

/** Whether waiting cannot mend it: the key, the vendor's account or the model's name must be changed. */
export function isOperators(failure: UpstreamFailure): boolean {
  return failure.kind === "auth" || failure.kind === "forbidden" || isUnknownModel(failure);
}

/** The refusal that a task fails with, whatever the order they came in. */
export function mainRefusal(refusals: readonly UpstreamFailure[]): UpstreamFailure | undefined {
  return [...refusals].sort((a, b) => rankOf(a) - rankOf(b))[0];
}

/**
 * How long to wait before the providers are tried again: 2^attempt seconds up to a minute, a quarter more or less, or
 * until the first of them asks for it.
 *
 * @param random Uniform in [0, 1).
 * @returns Whole milliseconds.
 */
export function backoffMs(refusals: readonly UpstreamFailure[], attempt: number, random: () => number): number {
  const usualMs = Math.min(2 ** attempt * 1_000, MAX_BACKOFF_MS) * (0.75 + 0.5 * random());
  const requests = refusals.map(({ facts }) => (facts.retryAfterSeconds ?? 0) * 1_000);
  const requestedMs = requests.length === 0 ? 0 : Math.min(...requests, PATIENCE_MS);
  return Math.round(Math.max(usualMs, requestedMs));
}

/** A create names nothing but a model and an endpoint, so a 404 is about these. */
function isUnknownModel({ facts }: UpstreamFailure): boolean {
  return facts.status === 404 && !facts.isContentRefusal;
}

function rankOf({ kind }: UpstreamFailure): number {
  const rank = RANKS.indexOf(kind);
  return rank < 0 ? RANKS.length : rank;
}
