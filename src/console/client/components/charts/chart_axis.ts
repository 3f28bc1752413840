import { localTime, utcTime } from "../../format.ts";

const DAY_SECONDS = 86_400;
/** Shorter spans have seconds at the axis. */
const MIN_SPAN_SECONDS = 240;
/** Longer ones have days at the axis. */
const MAX_HOURS_SPAN_SECONDS = 2 * DAY_SECONDS;
const STEPS_SECONDS = [1, 5, 10, 15, 30, 60, 300, 600, 900, 1_800].concat(
  [1, 2, 3, 4, 6, 8, 12].map((hours) => hours * 3_600),
);
const STEPS_DAYS = [1, 2, 3, 5, 7, 10, 14, 30, 60, 90, 180, 365];

/** Seconds between times at an axis that are allowed. A day has at most one where days are written. */
export function stepsOf(spanSeconds: number): number[] {
  const days = STEPS_DAYS.map((count) => count * DAY_SECONDS);
  return spanSeconds > MAX_HOURS_SPAN_SECONDS ? days : [...STEPS_SECONDS, ...days];
}

/**
 * The starts of UTC days within a span.
 *
 * @param step Seconds between two of them: whole days.
 */
export function utcDaysIn(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / DAY_SECONDS) * DAY_SECONDS;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  return Array.from({ length: count }, (_, place) => first + place * step);
}

/** Times at the axis, in the viewer's zone: hours and minutes, or days if they are further apart. */
export function axisTexts(seconds: readonly number[]): string[] {
  const [first = 0] = seconds;
  const span = (seconds.at(-1) ?? first) - first;
  if (span > MAX_HOURS_SPAN_SECONDS) return seconds.map((at) => localTime(at).slice(5, 10));
  return seconds.map((at) => localTime(at).slice(11, span < MIN_SPAN_SECONDS ? 19 : 16));
}

/** UTC days at the axis: `11-26`. */
export function dayTexts(seconds: readonly number[]): string[] {
  return seconds.map((at) => dayText(at).slice(5));
}

/** A UTC day: `2026-11-26`. */
export function dayText(seconds: number): string {
  return utcTime(seconds).slice(0, 10);
}

/** The time of a value, in the viewer's zone: `2026-11-26 14:05`. */
export function pointText(seconds: number): string {
  return localTime(seconds).slice(0, seconds % 60 === 0 ? 16 : 19);
}
