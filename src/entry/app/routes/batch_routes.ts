import type { Batches } from "../../../services/batches/batches.ts";
import { KeyBatches } from "../../../services/batches/key_batches.ts";
import { MAX_INPUT_VALUES } from "../../../platform/http/bodies/json_body.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { contentBatchRoutes } from "../../../protocols/content/batches.ts";
import { batchRoutes } from "../../../protocols/default/batches.ts";
import { ownBatchRoutes } from "../../../protocols/default/own_batches.ts";
import { messageBatchRoutes } from "../../../protocols/message/batches.ts";
import type { OwnedServices } from "../opening/own.ts";

/**
 * Builds the endpoints of batches of every protocol with the body limits of one configuration.
 *
 * @param baseUrl Gives the gateway's own address without a final slash.
 */
export function buildBatchRoutes(
  { authenticate, bodies, config: { limits } }: OwnedServices,
  batches: Batches,
  baseUrl: () => string,
): Route[] {
  const bodyLimits = {
    capBytes: limits.inputBodyBytes,
    idleMs: limits.bodyIdleMs,
    maxValues: MAX_INPUT_VALUES,
  };
  const bodyThread = { reader: bodies, aboveBytes: limits.largeBodyBytes };
  const parts = { batches, authenticate, bodyLimits, bodyThread, baseUrl };
  return [
    ...batchRoutes(parts),
    ...messageBatchRoutes(parts),
    ...contentBatchRoutes(parts),
    ...ownBatchRoutes({ authenticate, batches: new KeyBatches(batches) }),
  ];
}
