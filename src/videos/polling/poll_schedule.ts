/** How often vendors are polled. Spans in milliseconds. */
export interface PollSchedule {
  /** From the submission to the first poll of a task. Default 10 s. */
  readonly firstMs: number;
  /** The shortest distance between two polls of a task. Default 5 s. */
  readonly leastMs: number;
  /** The longest, as long as the provider's budget suffices. Default 30 s. */
  readonly mostMs: number;
  /** Budget of one provider: requests a second for all of its tasks together. Default 20. */
  readonly perSecond: number;
}

/** Most videos take one to five minutes, some half an hour. */
export const DEFAULT_SCHEDULE: PollSchedule = { firstMs: 10_000, leastMs: 5_000, mostMs: 30_000, perSecond: 20 };

/** The longest that a vendor is left alone because it asks for it. */
export const MAX_RETRY_AFTER_SECONDS = 3_600;

/**
 * Time until the next poll of a task: a tenth of its age, within the schedule's bounds, so that a result is seen at
 * most a tenth late; shortened or lengthened by up to a tenth, so that tasks that began together do not go on together.
 *
 * @param ageMs Since the vendor took the task; 0 for the first poll.
 * @param retryAfterSeconds What the vendor asked for, which is honoured when it is longer, up to an hour.
 * @param random Uniform in [0, 1).
 * @returns Whole milliseconds.
 */
export function nextPollMs(
  schedule: PollSchedule,
  ageMs: number,
  retryAfterSeconds: number | undefined,
  random: () => number,
): number {
  const asked = Math.min(Math.max(retryAfterSeconds ?? 0, 0), MAX_RETRY_AFTER_SECONDS) * 1_000;
  const usual = ageMs <= 0 ? schedule.firstMs : Math.min(Math.max(ageMs / 10, schedule.leastMs), schedule.mostMs);
  return Math.round(Math.max(usual * (0.9 + 0.2 * random()), asked));
}
