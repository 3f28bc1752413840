import { type Log, type LogFields, type LogLevel, logWritten } from "../../platform/lib/basics/log.ts";
import type { MetricFamily } from "../../platform/lib/basics/metric_family.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** A log that counts its lines by event, whether or not they are written. */
export interface CountedLog extends Log {
  /** Returns the number of lines of an event since the start. */
  count(event: string): number;
  /** Returns all counts. */
  family(): MetricFamily;
}

/** Creates a log that counts the lines of another. The names of events are fixed, so their number is bounded. */
export function countLog(log: Log): CountedLog {
  const counts = new Map<string, { readonly level: LogLevel; value: number }>();
  const at = (level: LogLevel) => (event: string, fields?: LogFields): void => {
    const known = counts.get(event);
    if (known === undefined) counts.set(event, { level, value: 1 });
    else known.value++;
    log[level](event, fields);
  };
  const [debug, info, warn, error] = LEVELS.map(at) as [Log["debug"], Log["info"], Log["warn"], Log["error"]];
  return {
    debug,
    info,
    warn,
    error,
    infoWritten(event, fields) {
      const known = counts.get(event);
      if (known === undefined) counts.set(event, { level: "info", value: fields.length });
      else known.value += fields.length;
      logWritten(log, event, fields);
    },
    count: (event) => counts.get(event)?.value ?? 0,
    family: () => ({
      name: "switchyard_log_events_total",
      help: "Log lines by event, whether or not their level is written.",
      type: "counter",
      samples: [...counts].map(([event, { level, value }]) => ({ labels: { event, level }, value })),
    }),
  };
}
