import { type Clock, systemClock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { type CountedLog, countLog } from "../../../observers/metrics/counted_log.ts";
import type { MetricFamily } from "../../../platform/lib/basics/metric_family.ts";
import type { LineEnd } from "../../../services/batches/settling/batch_parts.ts";
import { LoopLag } from "../../../observers/metrics/loop_lag.ts";
import { RequestMetrics } from "../../../observers/metrics/request_metrics.ts";

/** The lines of batches by their ends. */
export class LineCounts {
  readonly #lines: Record<LineEnd, number> = { completed: 0, failed: 0, cancelled: 0, expired: 0 };

  /** Counts lines. */
  readonly count = (end: LineEnd, lines: number): void => void (this.#lines[end] += lines);

  /** The metric. */
  family(): MetricFamily {
    return {
      name: "switchyard_batch_lines_total",
      help: "Lines of batches by their end. Those that were cancelled or have expired were not run.",
      type: "counter",
      samples: Object.entries(this.#lines).map(([end, value]) => ({ labels: { end }, value })),
    };
  }
}

/** What the gateway counts from its start. */
export interface GatewayCounts {
  readonly requests: RequestMetrics;
  /** The log of the gateway, which counts its lines. */
  readonly log: CountedLog;
  readonly loopLag: LoopLag;
  readonly lines: LineCounts;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** Starts to count. Nothing is measured before {@linkcode LoopLag.start}. */
export function createCounts({ log, clock }: { readonly log: Log; readonly clock: Clock }): GatewayCounts {
  const counted = countLog(log);
  // The lag is that of the process, so it is measured in real time also where tests set the clock.
  return {
    requests: new RequestMetrics(
      clock,
      ({ model, dimension }) => counted.warn("usage_unpriced", { model, code: dimension }),
    ),
    log: counted,
    loopLag: new LoopLag(systemClock),
    lines: new LineCounts(),
    startedAt: clock.now(),
  };
}
