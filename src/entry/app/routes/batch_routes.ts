import type { Batches } from "../../../services/batches/batches.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { batchRoutes } from "../../../protocols/default/batches.ts";
import type { OwnedServices } from "../opening/own.ts";

/** Builds the endpoints of batches with the body limits of one configuration. */
export function buildBatchRoutes({ authenticate, config: { limits } }: OwnedServices, batches: Batches): Route[] {
  const bodyLimits = { capBytes: limits.inputBodyBytes, idleMs: limits.bodyIdleMs };
  return batchRoutes({ batches, authenticate, bodyLimits });
}
