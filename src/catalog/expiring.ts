import type { Model } from "./model.ts";

/** A model that its vendor ends, or has ended. */
export interface ExpiringModel {
  readonly id: string;
  /** As the vendor states it: `2027-01-14`. */
  readonly date: string;
  /** Whether the date has come. Requests are sent as before. */
  readonly isPast: boolean;
}

/** The time before its date in which a model is reported. */
const NOTICE_MS = 30 * 86_400_000;

/**
 * The models whose date has come, or comes in thirty days.
 *
 * @param at Unix milliseconds.
 */
export function expiringModels(models: readonly Model[], at: number): readonly ExpiringModel[] {
  return models.flatMap(({ id, expirationDate: date }) => {
    const ends = date === null ? Infinity : Date.parse(date);
    return date === null || ends - at > NOTICE_MS ? [] : [{ id, date, isPast: ends <= at }];
  });
}
