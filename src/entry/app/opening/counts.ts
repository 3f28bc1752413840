import { type Clock, systemClock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { type CountedLog, countLog } from "../../../observers/metrics/counted_log.ts";
import { LoopLag } from "../../../observers/metrics/loop_lag.ts";
import { RequestMetrics } from "../../../observers/metrics/request_metrics.ts";

/** What the gateway counts from its start. */
export interface GatewayCounts {
  readonly requests: RequestMetrics;
  /** The log of the gateway, which counts its lines. */
  readonly log: CountedLog;
  readonly loopLag: LoopLag;
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
    startedAt: clock.now(),
  };
}
