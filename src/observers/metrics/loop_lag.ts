import type { Clock } from "../../platform/lib/basics/clock.ts";
import { Histogram, WORK_SECONDS } from "../../platform/lib/collections/histogram.ts";
import type { MetricFamily } from "../../platform/lib/basics/metric_family.ts";

const INTERVAL_MS = 500;
const NAME = "switchyard_event_loop_lag_seconds";

/** Measures how late timers of the main thread fire, which is how long other requests may have to wait. */
export class LoopLag {
  readonly #histogram = new Histogram(WORK_SECONDS);
  readonly #clock: Clock;
  #stop: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts the measurement: one timer every half second. */
  start(): void {
    const setAt = this.#clock.monotonicMs();
    this.#stop = this.#clock.after(INTERVAL_MS, () => {
      this.#histogram.observe(Math.max(0, this.#clock.monotonicMs() - setAt - INTERVAL_MS) / 1000);
      this.start();
    });
  }

  /** Ends the measurement. */
  stop(): void {
    this.#stop();
  }

  /** Returns the measured delays. */
  family(): MetricFamily {
    const help = "Delay of a timer of the main thread, measured every half second.";
    return { name: NAME, help, type: "histogram", samples: this.#histogram.samples(NAME, {}) };
  }
}
