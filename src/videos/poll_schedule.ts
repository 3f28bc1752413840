/** How often a vendor is asked how a video comes along. All in milliseconds. */
export interface PollSchedule {
  /** From the submission to the first look. Default 10 s. */
  readonly firstMs: number;
  /** The shortest distance between two looks. Default 5 s. */
  readonly leastMs: number;
  /** The longest. Default 30 s. */
  readonly mostMs: number;
}

/** Most videos take one to five minutes, some half an hour. */
export const USUAL_SCHEDULE: PollSchedule = { firstMs: 10_000, leastMs: 5_000, mostMs: 30_000 };

/**
 * Time until the next look: a tenth of the age, within the schedule's bounds, so that a result is seen at most a tenth late;
 * shortened or lengthened by up to a tenth, so that tasks that began together do not go on together.
 *
 * @param ageMs Since the vendor took the task; 0 for the first look.
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
  const asked = Math.min(Math.max(retryAfterSeconds ?? 0, 0), 3_600) * 1_000;
  const usual = ageMs <= 0 ? schedule.firstMs : Math.min(Math.max(ageMs / 10, schedule.leastMs), schedule.mostMs);
  return Math.round(Math.max(usual * (0.9 + 0.2 * random()), asked));
}
