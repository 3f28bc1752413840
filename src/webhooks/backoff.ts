/** How many retries follow the first attempt. Source: docs/api/webhooks.md#retries. */
const MAX_RETRIES = 10;

const FIRST_MS = 5_000;
const MAX_DELAY_MS = 600_000;
const JITTER = 0.1;

/**
 * Delay before retry `n` of a webhook delivery, from the end of the attempt before it: min(5 × 2^(n−1), 600) seconds,
 * lengthened by up to a tenth. Source: docs/api/webhooks.md#retries.
 *
 * @param n The retry about to be made, from 1.
 * @param random Uniform in [0, 1); given, so that a test can fix it.
 * @returns Whole milliseconds, or null when no retry is left.
 * @throws {RangeError} If `n` is not a positive integer.
 */
export function retryDelayMs(n: number, random: () => number = Math.random): number | null {
  if (!Number.isInteger(n) || n < 1) throw new RangeError(`expected a retry from 1, got ${n}`);
  if (n > MAX_RETRIES) return null;
  const delayMs = Math.min(FIRST_MS * 2 ** (n - 1), MAX_DELAY_MS);
  return Math.floor(delayMs * (1 + JITTER * random()));
}

/**
 * The same, where the receiver named a time: it may lengthen the delay, up to ten minutes, and never shortens it.
 *
 * @param retryAfterMs Null when it named none.
 */
export function nextDelayMs(n: number, retryAfterMs: number | null, random: () => number): number | null {
  const delayMs = retryDelayMs(n, random);
  return delayMs === null ? null : Math.max(delayMs, Math.min(retryAfterMs ?? 0, MAX_DELAY_MS));
}

/**
 * Reads `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
 *
 * @param nowMs Unix milliseconds.
 * @returns Milliseconds from now; null for what is neither, or past.
 */
export function readRetryAfterMs(field: string | null, nowMs: number): number | null {
  if (field === null) return null;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1_000;
  const at = /^[A-Za-z]{3}, /.test(field) ? Date.parse(field) : NaN;
  return at > nowMs ? at - nowMs : null;
}
