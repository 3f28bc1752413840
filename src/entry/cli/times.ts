import { systemClock } from "../../platform/lib/basics/clock.ts";
import { UsageError } from "./usage_error.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** Which way a span such as `90m` counts from now. */
export type SpanDirection = "ago" | "ahead";

/** What {@linkcode readTime} takes, for messages and help. */
export const TIME_FORMS = "90m or 7d, today, yesterday, 2026-11-21, 2026-11-21T09:30Z or Unix seconds";

/** What {@linkcode readSpan} takes. */
const SPAN_FORMS = "90s, 90m, 12h, 7d, 2w or seconds";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const UNIT_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const SPAN = /^(\d{1,9})([smhdw])$/;
const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const UNIX_SECONDS = /^\d{1,12}$/;

/**
 * Reads a time that an operator typed. Dates and the words for days are in UTC, and begin at midnight.
 *
 * @param option The words of the command and the option, for the message.
 * @param direction Default: a span is that long ago.
 * @returns Unix milliseconds.
 * @throws {UsageError} If it is none of {@linkcode TIME_FORMS}.
 */
export function readTime(
  option: string,
  text: string,
  { direction = "ago", now = systemClock.now() }: { readonly direction?: SpanDirection; readonly now?: number } = {},
): number {
  const time = timeOf(text, direction, now);
  if (time !== null && !Number.isNaN(time)) return Math.max(0, time);
  throw new UsageError(`switchyard ${option}: expected a time: ${TIME_FORMS}, got "${text}"`);
}

/**
 * Reads a span of time that an operator typed.
 *
 * @returns Whole seconds.
 * @throws {UsageError} If it is another text.
 */
export function readSpan(option: string, text: string): number {
  if (UNIX_SECONDS.test(text)) return Number(text);
  const span = spanOf(text);
  if (span !== null) return span / SECOND_MS;
  throw new UsageError(`switchyard ${option}: expected a span: ${SPAN_FORMS}, got "${text}"`);
}

function timeOf(text: string, direction: SpanDirection, now: number): number | null {
  const midnight = now - now % DAY_MS;
  switch (text) {
    case "now":
      return now;
    case "today":
      return midnight;
    case "yesterday":
      return midnight - DAY_MS;
    case "tomorrow":
      return midnight + DAY_MS;
  }
  if (UNIX_SECONDS.test(text)) return Number(text) * SECOND_MS;
  if (INSTANT.test(text)) return Date.parse(text);
  const span = spanOf(text);
  return span === null ? null : direction === "ago" ? now - span : now + span;
}

function spanOf(text: string): number | null {
  const [, amount, unit = ""] = SPAN.exec(text) ?? [];
  const unitMs = ownValue(UNIT_MS, unit);
  return amount === undefined || unitMs === undefined ? null : Number(amount) * unitMs;
}
