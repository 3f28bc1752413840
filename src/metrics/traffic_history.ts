import type { Clock } from "../lib/clock.ts";
import { elementAt } from "../lib/element_at.ts";
import { trafficBetween, type TrafficTotals } from "./traffic_totals.ts";

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
}

/**
 * The traffic of the last hour, day, week and month, as far as this process has run: totals are read once a minute, so
 * a request costs nothing more. At most 230 of them are kept.
 */
export class TrafficHistory {
  readonly #kept: Readonly<Record<TrafficSpan, TotalsAt[]>>;
  #cancel: (() => void) | null = null;

  /** @param totals Returns the totals since the start. */
  constructor(readonly totals: () => TrafficTotals, readonly clock: Clock) {
    const first = { at: clock.now(), totals: totals() };
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
    const now = { at: this.clock.now(), totals: this.totals() };
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

  /** The steps of a span, the oldest first, and all of them as one. The last one is under way. */
  read(span: TrafficSpan): { readonly steps: TrafficStep[]; readonly total: TrafficStep } {
    const kept = [...this.#kept[span], { at: this.clock.now(), totals: this.totals() }];
    const steps = kept.slice(1).map((each, index) => stepBetween(kept[index] ?? each, each));
    return { steps, total: stepBetween(elementAt(kept, 0), elementAt(kept, kept.length - 1)) };
  }
}

function stepBetween(before: TotalsAt, after: TotalsAt): TrafficStep {
  const traffic = trafficBetween(before.totals, after.totals);
  return { from: before.at, to: Math.max(after.at, before.at), traffic };
}
