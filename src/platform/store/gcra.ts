/**
 * A rate limit and one request against it: a bucket gains one unit every `perMs` milliseconds and holds at most `burst`
 * units; the request takes `cost` units.
 */
export interface RateLimit {
  readonly perMs: number;
  readonly burst: number;
  readonly cost: number;
  /** The units that a bucket can owe after {@linkcode fullAtAfter}. Default: none. */
  readonly maxDebt?: number;
}

/** The decision on one request, and the new state of the bucket. */
export interface RateDecision {
  readonly ok: boolean;
  /** Whole milliseconds until the same request succeeds; 0 if it succeeded. */
  readonly waitMs: number;
  /** When the bucket will be full again, in Unix milliseconds. It is the whole state of a bucket. */
  readonly fullAt: number;
}

/**
 * The generic cell rate algorithm in its virtual scheduling form. A bucket never has less than minus `maxDebt` units,
 * also after the clock was set back, so no wait is longer than a refill of the burst and the debt. Source: ITU-T I.371,
 * annex A.
 *
 * @param fullAt The state of the bucket; 0 for a new one.
 * @throws {RangeError} If the cost exceeds the burst, or a parameter is not positive.
 */
export function gcra(fullAt: number, now: number, { perMs, burst, cost, maxDebt = 0 }: RateLimit): RateDecision {
  if (!(perMs > 0 && cost > 0 && cost <= burst)) {
    throw new RangeError(`Cannot take ${cost} from a bucket of ${burst} that earns one in ${perMs} ms`);
  }
  const start = Math.min(Math.max(fullAt, now), now + (burst + maxDebt) * perMs);
  const allowedAt = start - (burst - cost) * perMs;
  if (now >= allowedAt) return { ok: true, waitMs: 0, fullAt: start + cost * perMs };
  return { ok: false, waitMs: waitUntil(allowedAt, now), fullAt: start };
}

/**
 * The state of a bucket after units were used that it may not have had. It owes them, up to `maxDebt`, and refuses
 * requests until they are refilled.
 */
export function fullAtAfter(fullAt: number, now: number, { perMs, burst, cost, maxDebt = 0 }: RateLimit): number {
  return Math.min(Math.max(fullAt, now) + cost * perMs, now + (burst + maxDebt) * perMs);
}

// The rounded difference of two large numbers can be slightly too small, and `waitMs` must be enough.
function waitUntil(allowedAt: number, now: number): number {
  const waitMs = Math.ceil(allowedAt - now);
  return now + waitMs < allowedAt ? waitMs + 1 : waitMs;
}

/** The buckets of one process. Full buckets are removed, as a new bucket is full. */
export class RateLimiter {
  readonly #fullAt = new Map<string, number>();
  #cleanupSize = MIN_CLEANUP_SIZE;

  /** Takes units from a bucket, see {@linkcode gcra}. */
  take(bucket: string, now: number, limit: RateLimit): { readonly ok: boolean; readonly waitMs: number } {
    const { ok, waitMs, fullAt } = gcra(this.#fullAt.get(bucket) ?? 0, now, limit);
    this.#fullAt.set(bucket, fullAt);
    if (this.#fullAt.size >= this.#cleanupSize) this.#removeFull(now);
    return { ok, waitMs };
  }

  // Runs only when the number of buckets has doubled, so that the average cost per call stays constant.
  #removeFull(now: number): void {
    for (const [bucket, fullAt] of this.#fullAt) {
      if (fullAt <= now) this.#fullAt.delete(bucket);
    }
    this.#cleanupSize = Math.max(MIN_CLEANUP_SIZE, 2 * this.#fullAt.size);
  }
}

const MIN_CLEANUP_SIZE = 4_096;
