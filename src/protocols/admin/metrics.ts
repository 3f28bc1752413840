import { SERVICE_ENDPOINTS } from "../../platform/endpoints/service.ts";
import type { MetricFamily } from "../../platform/lib/basics/metric_family.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { Late } from "../../platform/lib/process/late.ts";

const expositionModule = new Late(() => import("../../observers/metrics/exposition.ts"));

/** The dependencies of the metrics endpoint. */
export interface AdminMetricsOptions {
  /** Returns the metrics as they are now. */
  readonly families: () => Promise<readonly MetricFamily[]>;
}

/** `GET /metrics` in the text format of Prometheus. Its requests are neither logged nor counted. */
export function adminMetricsRoutes({ families }: AdminMetricsOptions): AdminRoute[] {
  const handler = async () => {
    const { METRICS_MEDIA_TYPE, writeMetrics } = await expositionModule.load();
    return new Response(await writeMetrics(await families()), {
      headers: { "content-type": METRICS_MEDIA_TYPE, "cache-control": "no-store" },
    });
  };
  return [adminRoute(SERVICE_ENDPOINTS.readMetrics, handler)];
}
