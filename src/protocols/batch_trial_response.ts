import type { BatchTrial } from "../services/batches/batches.ts";
import { writeMoney } from "../platform/lib/basics/money.ts";
import { dryRunResponse, writeEstimatedCost } from "./dry_run_response.ts";
import { batchModeOf } from "./service_batch.ts";

/** The response to a create of a batch that is a dry run. Source: docs/api/dry-runs.md. */
export function batchTrialResponse(trial: BatchTrial): Response {
  const { total, model, estimate, admission } = trial;
  const written = { requests: total, ...writeEstimatedCost("batch", estimate) };
  const found = { model: model ?? "", mode: "batch", providers: [], dropped: [] };
  return dryRunResponse({
    ...found,
    estimate: written,
    service_batch: { mode: batchModeOf(trial), estimate: writeMoney(estimate) },
    admission,
  });
}
