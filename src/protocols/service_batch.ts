import { writeMoney } from "../platform/lib/basics/money.ts";
import type { BatchRecord } from "../services/batches/batch.ts";

/**
 * `service_batch` of a batch in every protocol. It says before anything is paid that the gateway runs the lines, at the
 * price of single requests.
 */
export function writeServiceBatch({ estimate, cost }: BatchRecord): Record<string, string> {
  return { mode: "emulated", estimate: writeMoney(estimate), cost: writeMoney(cost) };
}
