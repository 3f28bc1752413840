import type { ChartSeries } from "../../components/time_chart.tsx";
import type { UsageGroup } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const DAY_MS = 86_400_000;
/** Further groups share one series. */
const MAX_SERIES = 7;

/** The last UTC days, today last: `2026-11-21`. */
export function lastDays(count: number, nowMs: number): string[] {
  const today = Math.floor(nowMs / DAY_MS);
  return Array.from(
    { length: count },
    (_, index) => new Date((today - count + 1 + index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** The cost of each group on each day: a series for the groups with the highest cost, and one for all others. */
export function costByDay({ groups, dimension, days }: {
  /** By day and by the dimension. */
  readonly groups: readonly UsageGroup[];
  readonly dimension: string;
  readonly days: readonly string[];
}): ChartSeries[] {
  const costs = new Map<string, Map<string, number>>();
  for (const group of groups) {
    const name = String(group[dimension] ?? TEXTS.usage.unnamed);
    const own = costs.get(name) ?? new Map<string, number>();
    costs.set(name, own.set(String(group.day), (own.get(String(group.day)) ?? 0) + Number(group.cost)));
  }
  const sumOf = (own: ReadonlyMap<string, number>) => [...own.values()].reduce((sum, cost) => sum + cost, 0);
  const sorted = [...costs].sort(([, one], [, other]) => sumOf(other) - sumOf(one));
  const named = sorted.length <= MAX_SERIES + 1 ? sorted : sorted.slice(0, MAX_SERIES);
  const others = sorted.slice(named.length);
  const series = named.map(([name, own]) => ({ name, values: days.map((day) => own.get(day) ?? 0) }));
  if (others.length === 0) return series;
  const rest = days.map((day) => others.reduce((sum, [, own]) => sum + (own.get(day) ?? 0), 0));
  return [...series, { name: TEXTS.usage.others, values: rest }];
}
