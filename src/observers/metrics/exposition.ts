import client from "prom-client";
import type { MetricFamily } from "../../platform/lib/basics/metric_family.ts";

/** The media type of {@linkcode writeMetrics}. */
export const METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Writes metrics in the text format of Prometheus, version 0.0.4.
 *
 * The gateway keeps the counts, since the library's own counters cost a microsecond for each addition. The library
 * writes and escapes them. This module is loaded when they are read for the first time.
 */
export async function writeMetrics(families: readonly MetricFamily[]): Promise<string> {
  const registry = new client.Registry();
  for (const { name, help, type, samples } of families) {
    // The registry reads a metric only by these members.
    const metric = { name, help, type, get: () => Promise.resolve({ name, help, type, values: samples }) };
    registry.registerMetric(metric as unknown as Parameters<typeof registry.registerMetric>[0]);
  }
  return await registry.metrics();
}
