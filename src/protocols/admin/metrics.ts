import type { Route } from "../../http/inbound.ts";
import type { MetricFamily } from "../../lib/metric_family.ts";
import { METRICS_MEDIA_TYPE, writeMetrics } from "../../metrics/exposition.ts";
import { guardedRoute } from "./guarded_route.ts";

/** The dependencies of the metrics endpoint. */
export interface AdminMetricsOptions {
  /** The operator's key; if empty, there is no endpoint. */
  readonly adminKey: string;
  /** Returns the metrics as they are now. */
  readonly families: () => Promise<readonly MetricFamily[]>;
}

/** `GET /metrics` in the text format of Prometheus. Its requests are neither logged nor counted. */
export function adminMetricsRoutes({ adminKey, families }: AdminMetricsOptions): Route[] {
  if (adminKey === "") return [];
  const handler = async () =>
    new Response(await writeMetrics(await families()), {
      headers: { "content-type": METRICS_MEDIA_TYPE, "cache-control": "no-store" },
    });
  return [{ ...guardedRoute(adminKey, "")("GET", "/metrics", handler), isProbe: true }];
}
