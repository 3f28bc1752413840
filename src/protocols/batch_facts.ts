import { secondsOf } from "../platform/lib/basics/clock.ts";
import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { writeMoney } from "../platform/lib/basics/money.ts";
import { type BatchRecord, shownBatchId } from "../services/batches/records/batch.ts";
import { batchModeOf } from "./service_batch.ts";

/** What operators and callers are shown of a batch, of whatever protocol. */
export function writeBatchFacts(batch: BatchRecord): JsonObject {
  const at = (ms: number | null) => ms === null ? null : secondsOf(ms);
  return {
    // As in logs, in the ledger and in events; then as its caller's client has it.
    id: batch.id,
    caller_id: shownBatchId(batch),
    protocol: batch.protocol ?? "default",
    input: batch.inputFileId === null ? "requests" : "file",
    // Its address has the model, which lines may name themselves.
    endpoint: batch.endpoint.replace(":model*", "{model}"),
    model: batch.model,
    mode: batchModeOf(batch),
    status: batch.status,
    created_at: secondsOf(batch.createdAt),
    expires_at: secondsOf(batch.expiresAt),
    cancelling_at: at(batch.cancellingAt),
    finalizing_at: at(batch.finalizingAt),
    ended_at: at(batch.endedAt),
    lines: { total: batch.total, completed: batch.completed, failed: batch.failed },
    failures: Object.entries(batch.failures ?? {}).map(([code, count]) => ({ code, count }))
      .sort((one, other) => other.count - one.count),
    estimate: writeMoney(batch.estimate),
    cost: writeMoney(batch.cost),
  };
}
