import type { ChartSeries } from "../../components/time_chart.tsx";
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
