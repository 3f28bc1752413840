import { writeMoney } from "../platform/lib/basics/money.ts";
import type { BatchRecord } from "../services/batches/records/batch.ts";

/**
 * `service_batch` of a batch in every protocol. It says before anything is paid who runs the lines: those that the
 * gateway runs have the price of single requests.
 */
export function writeServiceBatch(batch: BatchRecord): Record<string, string> {
  return { mode: batchModeOf(batch), estimate: writeMoney(batch.estimate), cost: writeMoney(batch.cost) };
}

/** Who runs the lines of a batch: vendors in batches of theirs, the gateway, or both. */
export type BatchMode = "vendor" | "emulated" | "mixed";

/** Who runs the lines of a batch. */
export function batchModeOf({ total, vendorLines }: Pick<BatchRecord, "total" | "vendorLines">): BatchMode {
  if (vendorLines === 0) return "emulated";
  return vendorLines === total ? "vendor" : "mixed";
}
