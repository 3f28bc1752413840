import type { MetricFamily } from "../../lib/basics/metric_family.ts";
import { type JobCount, jobFamilies, MAX_COUNTED_JOBS } from "../store_metrics.ts";
import { keyOfKv } from "./keys.ts";

/**
 * Counts the jobs of the store by kind, and the time for which the oldest due one has waited.
 *
 * @param now Unix milliseconds.
 */
export async function jobMetrics(kv: Deno.Kv, now: number): Promise<MetricFamily[]> {
  const kinds = new Map<string, JobCount>();
  for await (const { key } of kv.list({ prefix: ["due"] }, { limit: MAX_COUNTED_JOBS, batchSize: 500 })) {
    const [, kind, , dueAt] = keyOfKv(key);
    const known = kinds.get(String(kind)) ?? { count: 0, firstDueAt: Infinity };
    kinds.set(String(kind), { count: known.count + 1, firstDueAt: Math.min(known.firstDueAt, Number(dueAt)) });
  }
  return jobFamilies([...kinds], now);
}
