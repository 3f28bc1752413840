/** A vendor that was asked is asked again after this part of the time since then, within its limits. */
const POLL_SHARE = 0.1;
/** The first pause. */
export const MIN_POLL_MS = 1_000;
const MAX_POLL_MS = 60_000;
/** Pauses after failures: they double. */
const MIN_RETRY_MS = 2_000;
const MAX_RETRY_MS = 300_000;

/** The pause before a vendor is asked again that was asked so long ago. */
export function pollMs(sinceMs: number): number {
  return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, Math.round(sinceMs * POLL_SHARE)));
}

/** The pause after so many failures in a row. */
export function retryMs(failures: number): number {
  return Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(failures - 1, 10));
}
