/** The names and values that distinguish a time series. */
export type Labels = Readonly<Record<string, string | number>>;

/** One value of a metric. */
export interface Sample {
  /** What distinguishes the value from others of the metric. */
  readonly labels: Labels;
  /** The number itself. */
  readonly value: number;
  /** The name, if it is not the family's own: those of a histogram end in `_bucket`, `_sum` and `_count`. */
  readonly metricName?: string;
}

/** A metric with its values. Source: the Prometheus data model and its text format 0.0.4. */
export interface MetricFamily {
  /** Starts with `switchyard_` or `process_`; counters end in `_total`, and units are seconds, bytes and USD. */
  readonly name: string;
  /** One sentence for people. */
  readonly help: string;
  /** Counters only grow. */
  readonly type: "counter" | "gauge" | "histogram";
  /** One for each combination of labels. */
  readonly samples: readonly Sample[];
}

/** Returns a metric with one value. */
export function single(
  type: "counter" | "gauge",
  name: string,
  help: string,
  value: number,
  labels: Labels = {},
): MetricFamily {
  return { name, help, type, samples: [{ labels, value }] };
}
