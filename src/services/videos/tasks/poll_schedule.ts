/** Intervals and rate of polling, in milliseconds. */
export interface PollSchedule {
  /** Time from the submission to the first poll of a task. Default: 10 s. */
  readonly firstMs: number;
  /** Minimum interval between two polls of a task. Default: 5 s. */
  readonly minMs: number;
  /** Maximum interval, while the provider's rate limit suffices. Default: 30 s. */
  readonly maxMs: number;
  /** Requests per second to one provider for all of its tasks. Default: 20. */
  readonly perSecond: number;
}

/** Maximum `Retry-After` that is honoured. */
export const MAX_RETRY_AFTER_SECONDS = 3_600;

/**
 * Returns the time until the next poll of a task: a tenth of its age, within the schedule's bounds. A result is
 * therefore seen at most a tenth late. Jitter of ±10 % separates tasks that started together.
 *
 * @param ageMs Time since the vendor accepted the task; 0 for the first poll.
 * @param retryAfterSeconds The vendor's `Retry-After`, honoured if it is longer, up to an hour.
 * @param random Returns a uniform random number in [0, 1).
 * @returns Whole milliseconds.
 */
export function nextPollMs(
  schedule: PollSchedule,
  ageMs: number,
  retryAfterSeconds: number | undefined,
  random: () => number,
): number {
  const requested = Math.min(Math.max(retryAfterSeconds ?? 0, 0), MAX_RETRY_AFTER_SECONDS) * 1_000;
  const interval = ageMs <= 0 ? schedule.firstMs : Math.min(Math.max(ageMs / 10, schedule.minMs), schedule.maxMs);
  return Math.round(Math.max(interval * (0.9 + 0.2 * random()), requested));
}
