import type { Clock } from "../../platform/lib/basics/clock.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import { addTraffic, NO_TRAFFIC, trafficBetween, type TrafficTotals } from "./traffic_totals.ts";

/** A span of time that ends now. */
export type TrafficSpan = "hour" | "day" | "week" | "month";

/** All spans, the shortest first. */
export const TRAFFIC_SPANS: readonly TrafficSpan[] = ["hour", "day", "week", "month"];

const MINUTE_MS = 60_000;

/** The length of the steps in which each span is kept, and their number. */
const STEPS: Readonly<Record<TrafficSpan, { readonly stepMs: number; readonly count: number }>> = {
  hour: { stepMs: MINUTE_MS, count: 60 },
  day: { stepMs: 30 * MINUTE_MS, count: 48 },
  week: { stepMs: 3 * 60 * MINUTE_MS, count: 56 },
  month: { stepMs: 12 * 60 * MINUTE_MS, count: 62 },
};

/** The traffic before this is in no span. */
export const KEPT_TRAFFIC_MS = STEPS.month.stepMs * STEPS.month.count;

/** The traffic of one step. */
export interface TrafficStep {
  /** Unix milliseconds. */
  readonly from: number;
  /** Unix milliseconds. The last step ends now. */
  readonly to: number;
  readonly traffic: TrafficTotals;
}

interface TotalsAt {
  readonly at: number;
  readonly totals: TrafficTotals;
  /** Whether no gateway ran between the point before it and this one. */
  readonly isAfterGap?: boolean;
}

/** A shorter time between a process and the next one is in no separate step. */
const MIN_GAP_MS = MINUTE_MS;

/**
 * The traffic of the last hour, day, week and month: totals of this process are read once a minute, so a request costs
 * nothing more. At most 230 of them are kept. What was before the start is given by {@linkcode TrafficHistory.precede}.
 */
export class TrafficHistory {
  readonly #kept: Readonly<Record<TrafficSpan, TotalsAt[]>>;
  #cancel: (() => void) | null = null;
  /** The traffic before the start. */
  #before = NO_TRAFFIC;

  /** @param own Returns the totals since the start of the process. */
  constructor(readonly own: () => TrafficTotals, readonly clock: Clock) {
    const first = { at: clock.now(), totals: own() };
    this.#kept = { hour: [first], day: [first], week: [first], month: [first] };
  }

  /** Starts to read the totals. */
  start(): void {
    this.#cancel = this.clock.after(MINUTE_MS, () => {
      this.sample();
      this.start();
    });
  }

  /** Stops reading. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Reads the totals now. Spans with longer steps keep them only at the end of a step. */
  sample(): void {
    const now = this.#now();
    for (const span of TRAFFIC_SPANS) {
      const { stepMs, count } = STEPS[span];
      const kept = this.#kept[span];
      const last = kept.at(-1);
      // A clock that was set back starts a new history, as its steps would overlap.
      if (last !== undefined && now.at < last.at) kept.length = 0;
      // A timer can be early by a part of a second.
      else if (last !== undefined && now.at - last.at < stepMs - MINUTE_MS / 2) continue;
      kept.push(now);
      if (kept.length > count) kept.shift();
    }
  }

  /**
   * Puts traffic before that of this process. Called once.
   *
   * @param earlier In any order. Parts of several gateways may overlap.
   */
  precede(earlier: readonly TrafficStep[]): void {
    const sorted = earlier.toSorted((one, other) => one.to - other.to);
    const before = sorted.reduce((sum, { traffic }) => addTraffic(sum, traffic), NO_TRAFFIC);
    this.#before = before;
    for (const span of TRAFFIC_SPANS) {
      const { stepMs, count } = STEPS[span];
      const stored = pointsOf(sorted, stepMs);
      const kept = this.#kept[span].map(({ at, totals }, index) => ({
        at,
        totals: addTraffic(before, totals),
        isAfterGap: index === 0 && at - (stored.at(-1)?.at ?? at) >= MIN_GAP_MS,
      }));
      const start = this.clock.now() - stepMs * count;
      const points = [...stored, ...kept].filter(({ at }) => at >= start);
      this.#kept[span].splice(0, Infinity, ...points.slice(-count));
    }
  }

  #now(): TotalsAt {
    return { at: this.clock.now(), totals: addTraffic(this.#before, this.own()) };
  }

  /**
   * The steps of a span, the oldest first, and all of them as one. The last one is under way. A time in which no
   * gateway ran has no step.
   */
  read(span: TrafficSpan): { readonly steps: TrafficStep[]; readonly total: TrafficStep } {
    const kept = [...this.#kept[span], this.#now()];
    const steps = kept.slice(1).flatMap((each, index) =>
      each.isAfterGap === true ? [] : stepBetween(kept[index] ?? each, each)
    );
    return { steps, total: stepBetween(elementAt(kept, 0), elementAt(kept, kept.length - 1)) };
  }

  /**
   * The whole steps that overlap a time range, of the shortest length that is kept so far back, and all of them as one.
   *
   * @param range Unix milliseconds.
   */
  between(range: { readonly from: number; readonly to: number }): { steps: TrafficStep[]; total: TrafficStep } {
    const ageMs = this.clock.now() - range.from;
    const span = TRAFFIC_SPANS.find((each) => ageMs <= STEPS[each].stepMs * STEPS[each].count) ?? "month";
    const steps = this.read(span).steps.filter(({ from, to }) => from < range.to && to > range.from);
    return { steps, total: joined(steps, range) };
  }
}

/** Steps that follow each other as one; a range without traffic if there are none. */
function joined(steps: readonly TrafficStep[], range: { readonly from: number; readonly to: number }): TrafficStep {
  const traffic = steps.reduce((sum, step) => addTraffic(sum, step.traffic), NO_TRAFFIC);
  return { from: steps[0]?.from ?? range.from, to: steps.at(-1)?.to ?? range.to, traffic };
}

/** The totals at the ends of steps, and around times in which no gateway ran. */
function pointsOf(sorted: readonly TrafficStep[], stepMs: number): TotalsAt[] {
  const points: TotalsAt[] = [];
  let totals = NO_TRAFFIC;
  let end = -Infinity;
  for (const { from, to, traffic } of sorted) {
    const lastAt = points.at(-1)?.at ?? -Infinity;
    const isAfterGap = from - end >= stepMs;
    if (isAfterGap && lastAt < end) points.push({ at: end, totals });
    if (from - lastAt >= stepMs) points.push({ at: from, totals, isAfterGap });
    totals = addTraffic(totals, traffic);
    end = Math.max(end, to);
    const startAt = points.at(-1)?.at ?? from;
    if (to - startAt >= stepMs - MINUTE_MS / 2) points.push({ at: to, totals });
  }
  const last = sorted.at(-1);
  if (last !== undefined && points.at(-1)?.at !== last.to) points.push({ at: last.to, totals });
  return points;
}

function stepBetween(before: TotalsAt, after: TotalsAt): TrafficStep {
  const traffic = trafficBetween(before.totals, after.totals);
  return { from: before.at, to: Math.max(after.at, before.at), traffic };
}
