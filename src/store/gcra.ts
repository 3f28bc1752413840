/** A bucket's terms: it earns one unit in `perMs` milliseconds, holds `burst` at most, and `cost` is asked of it. */
export interface RateLimit {
  readonly perMs: number;
  readonly burst: number;
  readonly cost: number;
}

/** The answer of a rate limit, and the instant to remember for the bucket. */
export interface RateDecision {
  readonly ok: boolean;
  /** Whole milliseconds after which this very request is let through; 0 when it was. */
  readonly waitMs: number;
  /** When the bucket will be full again, in Unix milliseconds. */
  readonly fullAt: number;
}

/**
 * The generic cell rate algorithm as a virtual schedule: all that a bucket remembers is when it will be full again.
 * A bucket is never emptier than empty, also when the clock was set back, so no wait is longer than the refill of a
 * whole burst. Source: ITU-T I.371, annex A.
 *
 * @param fullAt What was remembered; 0 for a new bucket.
 * @throws {RangeError} If the cost is more than the bucket can ever hold, or a term is not positive.
 */
export function gcra(fullAt: number, now: number, { perMs, burst, cost }: RateLimit): RateDecision {
  if (!(perMs > 0 && cost > 0 && cost <= burst)) {
    throw new RangeError(`Cannot take ${cost} from a bucket of ${burst} that earns one in ${perMs} ms`);
  }
  const start = Math.min(Math.max(fullAt, now), now + burst * perMs);
  const allowedAt = start - (burst - cost) * perMs;
  if (now >= allowedAt) return { ok: true, waitMs: 0, fullAt: start + cost * perMs };
  return { ok: false, waitMs: waitUntil(allowedAt, now), fullAt: start };
}

// Of two large numbers the rounded difference can be a hair too small, and "enough" is a promise.
function waitUntil(allowedAt: number, now: number): number {
  const waitMs = Math.ceil(allowedAt - now);
  return now + waitMs < allowedAt ? waitMs + 1 : waitMs;
}

/** The buckets of one process. Full ones are forgotten, as a new bucket is full. */
export class RateLimiter {
  readonly #fullAt = new Map<string, number>();
  #forgetAt = FORGET_FROM;

  /** Takes from a bucket, see {@linkcode gcra}. */
  take(bucket: string, now: number, terms: RateLimit): { readonly ok: boolean; readonly waitMs: number } {
    const { ok, waitMs, fullAt } = gcra(this.#fullAt.get(bucket) ?? 0, now, terms);
    this.#fullAt.set(bucket, fullAt);
    if (this.#fullAt.size >= this.#forgetAt) this.#forgetFull(now);
    return { ok, waitMs };
  }

  // Looks at all only when their number has doubled since, so that the cost per call stays constant.
  #forgetFull(now: number): void {
    for (const [bucket, fullAt] of this.#fullAt) {
      if (fullAt <= now) this.#fullAt.delete(bucket);
    }
    this.#forgetAt = Math.max(FORGET_FROM, 2 * this.#fullAt.size);
  }
}

const FORGET_FROM = 4_096;
