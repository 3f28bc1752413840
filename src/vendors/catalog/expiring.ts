import type { Model } from "./model.ts";

/** A model that its vendor ends, or has ended. */
export interface ExpiringModel extends Pick<Model, "id" | "redirect"> {
  /** As the vendor states it: `2027-01-14`. */
  readonly date: string;
  /** The milliseconds until then; below zero afterwards. Requests are sent as before. */
  readonly leftMs: number;
}

/** The time before its date in which a model is reported. */
export const EXPIRY_NOTICE_MS = 30 * 86_400_000;

/**
 * The models whose date has come, or comes in thirty days.
 *
 * @param at Unix milliseconds.
 */
export function expiringModels(models: readonly Model[], at: number): readonly ExpiringModel[] {
  return models.flatMap(({ id, redirect, expirationDate: date }) => {
    const leftMs = date === null ? Infinity : Date.parse(date) - at;
    return date === null || leftMs > EXPIRY_NOTICE_MS ? [] : [{ id, redirect, date, leftMs }];
  });
}
