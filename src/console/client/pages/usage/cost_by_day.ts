import type { ChartSeries } from "../../components/charts/time_chart.tsx";
import type { UsageAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const DAY_MS = 86_400_000;

/** The last UTC days, today last: `2026-11-21`. */
export function lastDays(count: number, nowMs: number): string[] {
  const today = Math.floor(nowMs / DAY_MS);
  return Array.from(
    { length: count },
    (_, index) => new Date((today - count + 1 + index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** The chart has at most this many days. */
const MAX_DAYS = 731;

/**
 * The UTC days of a range, its ends included.
 *
 * @param to Empty for today.
 */
export function daysBetween(from: string, to: string, nowMs: number): string[] {
  const last = to === "" ? nowMs : Date.parse(to);
  const count = Math.floor(last / DAY_MS) - Math.floor(Date.parse(from) / DAY_MS) + 1;
  return Number.isNaN(count) ? lastDays(1, nowMs) : lastDays(Math.max(1, Math.min(count, MAX_DAYS)), last);
}

/** The day after one. */
export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

/** The cost of each group on each day: a series for each group of the answer, and one for all others. */
export function costByDay({ answer: { data, others = [] }, dimension, days }: {
  /** By day and by the dimension. */
  readonly answer: Pick<UsageAnswer, "data" | "others">;
  /** `day` for one series. */
  readonly dimension: string;
  readonly days: readonly string[];
}): ChartSeries[] {
  const costs = new Map<string, Map<string, number>>();
  for (const group of data) {
    const name = dimension === "day" ? TEXTS.usage.cost : String(group[dimension] || TEXTS.usage.unnamed);
    const own = costs.get(name) ?? new Map<string, number>();
    costs.set(name, own.set(String(group.day), (own.get(String(group.day)) ?? 0) + Number(group.cost)));
  }
  const sumOf = (own: ReadonlyMap<string, number>) => [...own.values()].reduce((sum, cost) => sum + cost, 0);
  const sorted = [...costs].sort(([, one], [, other]) => sumOf(other) - sumOf(one));
  if (others.length > 0) {
    sorted.push([TEXTS.usage.others, new Map(others.map(({ day, cost }) => [String(day), Number(cost)]))]);
  }
  return sorted.map(([name, own]) => ({ name, values: days.map((day) => own.get(day) ?? 0) }));
}
