import type { BatchTrial } from "../services/batches/batches.ts";
import { dryRunResponse, writeEstimatedCost } from "./dry_run_response.ts";

/** The response to a create of a batch that is a dry run. Source: docs/api/dry-runs.md. */
export function batchTrialResponse({ total, model, estimate, admission }: BatchTrial): Response {
  const written = { requests: total, ...writeEstimatedCost("batch", estimate) };
  const found = { model: model ?? "", mode: "batch", providers: [], dropped: [] };
  return dryRunResponse({ ...found, estimate: written, admission });
}
