/** Maximum number of retries after the first attempt. Source: docs/api/webhooks.md#retries. */
const MAX_RETRIES = 10;

const FIRST_MS = 5_000;
const MAX_DELAY_MS = 600_000;
const JITTER = 0.1;

/**
 * Returns the delay before retry `n` of a delivery, from the end of the previous attempt: min(5 × 2^(n−1), 600) seconds
 * plus up to 10 % jitter. Source: docs/api/webhooks.md#retries.
 *
 * @param n Number of the next retry, from 1.
 * @param random Returns a uniform random number in [0, 1); injected so that tests can fix it.
 * @returns Whole milliseconds, or null if no retry is left.
 * @throws {RangeError} If `n` is not a positive integer.
 */
export function retryDelayMs(n: number, random: () => number = Math.random): number | null {
  if (!Number.isInteger(n) || n < 1) throw new RangeError(`expected a retry from 1, got ${n}`);
  if (n > MAX_RETRIES) return null;
  const delayMs = Math.min(FIRST_MS * 2 ** (n - 1), MAX_DELAY_MS);
  return Math.floor(delayMs * (1 + JITTER * random()));
}

/**
 * Returns the delay before retry `n` when the receiver may have sent `Retry-After`. That value can lengthen the delay
 * to at most ten minutes; it never shortens it.
 *
 * @param retryAfterMs Null if the receiver sent none.
 */
export function nextDelayMs(n: number, retryAfterMs: number | null, random: () => number): number | null {
  const delayMs = retryDelayMs(n, random);
  return delayMs === null ? null : Math.max(delayMs, Math.min(retryAfterMs ?? 0, MAX_DELAY_MS));
}

/**
 * Parses `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
 *
 * @param nowMs Unix milliseconds.
 * @returns Milliseconds from now; null if the value is invalid or in the past.
 */
export function readRetryAfterMs(field: string | null, nowMs: number): number | null {
  if (field === null) return null;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1_000;
  const at = /^[A-Za-z]{3}, /.test(field) ? Date.parse(field) : NaN;
  return at > nowMs ? at - nowMs : null;
}
