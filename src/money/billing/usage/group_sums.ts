import type { Money } from "../../../platform/lib/basics/money.ts";
import type { UsageRow } from "./read_usage.ts";
import { compareValues, type UsageDimension, type UsageGroup, type UsageValue } from "./usage_group.ts";
import type { UsageSums } from "./usage_records.ts";

/** The groups of a report. */
export interface ChosenGroups {
  readonly groups: readonly UsageGroup[];
  /** The sums of the groups that were not chosen: by day if there are days, with the day as their only value. */
  readonly others: readonly UsageGroup[];
}

/** A sum while a report is made. A report adds up many rows, so it is changed in place. */
interface Sum {
  cost: Money;
  counts: UsageSums["counts"];
  /** The counts once there is a second row. Those of the first are its own. */
  changed: number[] | null;
}

/** The sums of the rows whose values are equal but for the day. */
interface Series {
  /** Without the day. */
  readonly values: readonly UsageValue[];
  /** By day; null where there are no days. */
  readonly byDay: Map<number | null, Sum>;
  cost: Money;
}

/** No value contains it. */
const SEPARATOR = "\0";

/** Sums rows by what a report groups by. */
export class GroupSums {
  readonly #series = new Map<string, Series>();
  readonly #dayPlace: number;
  readonly #dimensions: readonly UsageDimension[];

  /** The number of groups. */
  size = 0;

  /** @param groupBy In the order of the groups' values. */
  constructor(groupBy: readonly UsageDimension[]) {
    this.#dayPlace = groupBy.indexOf("day");
    this.#dimensions = groupBy.filter((dimension) => dimension !== "day");
  }

  /** Adds a row. */
  add(row: UsageRow): void {
    const series = this.#seriesOf(row);
    const day = this.#dayPlace === -1 ? null : row.day;
    series.cost += row.cost;
    if (addTo(series.byDay, day, row)) this.size++;
  }

  /** All groups, unsorted. */
  all(): ChosenGroups {
    return { groups: [...this.#series.values()].flatMap((series) => this.#groupsOf(series)), others: [] };
  }

  /**
   * The groups with the highest cost over all days, unsorted, so that a chart by day has the same on each of them. Of
   * those with one cost, those whose values sort first.
   *
   * @param count How many, each with all its days.
   */
  top(count: number): ChosenGroups {
    const sorted = [...this.#series.values()].sort(byCost);
    const others = new Map<number | null, Sum>();
    for (const { byDay } of sorted.slice(count)) for (const [day, sum] of byDay) addTo(others, day, sum);
    return {
      groups: sorted.slice(0, count).flatMap((series) => this.#groupsOf(series)),
      others: [...others].map(([day, { cost, counts }]) => ({
        values: day === null ? [] : [day],
        sums: { cost, counts },
      })),
    };
  }

  #seriesOf(row: UsageRow): Series {
    let name = "";
    for (const dimension of this.#dimensions) name += (row[dimension] ?? "") + SEPARATOR;
    const found = this.#series.get(name);
    if (found !== undefined) return found;
    const series = { values: this.#dimensions.map((dimension) => row[dimension]), byDay: new Map(), cost: 0n };
    this.#series.set(name, series);
    return series;
  }

  #groupsOf({ values, byDay }: Series): UsageGroup[] {
    return Array.from(byDay, ([day, { cost, counts }]): UsageGroup => ({
      values: day === null ? values : values.toSpliced(this.#dayPlace, 0, day),
      sums: { cost, counts },
    }));
  }
}

/** Returns whether it is the first sum of the day. */
function addTo(byDay: Map<number | null, Sum>, day: number | null, { cost, counts }: UsageSums): boolean {
  const sum = byDay.get(day);
  if (sum === undefined) return byDay.set(day, { cost, counts, changed: null }), true;
  sum.cost += cost;
  const changed = sum.changed ??= [...sum.counts];
  sum.counts = changed;
  for (let place = 0; place < counts.length; place++) changed[place] = (changed[place] ?? 0) + (counts[place] ?? 0);
  return false;
}

function byCost(one: Series, other: Series): number {
  if (one.cost !== other.cost) return one.cost > other.cost ? -1 : 1;
  return compareValues(one.values, other.values);
}
