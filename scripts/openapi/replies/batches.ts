import * as z from "zod";
import { TERMINAL_STATUSES } from "../../../src/services/webhooks/ended_task.ts";
import type { OwnBatch as ConsoleBatch } from "../../../src/console/client/shapes.ts";
import { BATCH_PROTOCOLS, BATCH_STATUSES, LINE_ENDPOINTS } from "../../../src/services/batches/records/batch.ts";
import { about, seconds, usd, written } from "../schema.ts";

const at = () => about(z.int().nullable(), "Unix seconds.");

const LineError = z.object({
  code: z.string(),
  message: z.string(),
  line: about(z.int().nullable(), "From 1."),
  param: z.string().nullable(),
});

/** What the gateway adds to a batch of any protocol. */
export const ServiceBatch = about(
  z.object({ mode: z.enum(["vendor", "emulated", "mixed"]), estimate: usd(), cost: usd() }),
  "How the gateway runs the lines, their highest cost, and their cost so far.",
);

/** A batch. */
export const BatchObject = z.object({
  id: z.string(),
  object: z.literal("batch"),
  endpoint: z.enum([...LINE_ENDPOINTS.keys()]),
  model: about(z.string().nullable(), "That of all lines; null if they name several."),
  errors: about(
    z.object({ object: z.literal("list"), data: z.array(LineError) }).nullable(),
    "Of a failed batch: what is wrong with its lines.",
  ),
  input_file_id: z.string().nullable(),
  completion_window: z.string(),
  status: z.enum(["failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"]),
  output_file_id: about(z.string().nullable(), "The replies to lines that succeeded."),
  error_file_id: about(z.string().nullable(), "The replies to lines that failed, and lines that were not run."),
  created_at: seconds(),
  in_progress_at: at(),
  expires_at: seconds(),
  finalizing_at: at(),
  completed_at: at(),
  failed_at: at(),
  expired_at: at(),
  cancelling_at: at(),
  cancelled_at: at(),
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  metadata: z.record(z.string(), z.string()).nullable(),
  usage: z.object({
    input_tokens: z.int(),
    input_tokens_details: z.object({ cached_tokens: z.int() }),
    output_tokens: z.int(),
    output_tokens_details: z.object({ reasoning_tokens: z.int() }),
    total_tokens: z.int(),
  }),
  service_batch: ServiceBatch,
}).meta({ id: "Batch" });

/** What operators and callers are shown of a batch of any protocol. */
export const BATCH_FACTS = {
  id: about(z.string(), "As in logs, in the ledger and in events."),
  caller_id: about(z.string(), "As its caller's client has it."),
  protocol: z.enum(BATCH_PROTOCOLS),
  input: about(z.enum(["file", "requests"]), "Whether its lines were in a file or in the create."),
  endpoint: z.string(),
  model: about(z.string().nullable(), "That of all lines; null if they name several."),
  mode: z.enum(["vendor", "emulated", "mixed"]),
  status: z.enum(BATCH_STATUSES),
  created_at: seconds(),
  expires_at: seconds(),
  cancelling_at: at(),
  finalizing_at: at(),
  ended_at: at(),
  lines: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  failures: about(
    z.array(z.object({ code: z.string(), count: z.int() })),
    "The lines that were run and failed, the most frequent error first.",
  ),
  estimate: usd(),
  cost: usd(),
};

/** A key's batch of any protocol. */
export const OwnBatch = written<ConsoleBatch>()(z.object({
  ...BATCH_FACTS,
  display_name: z.string().nullable(),
  errors: about(z.array(LineError), "Of a failed batch: what is wrong with its lines."),
  output_file_id: about(z.string().nullable(), "The results. In the default protocol, those of lines that succeeded."),
  error_file_id: about(z.string().nullable(), "In the default protocol: the lines that failed or were not run."),
})).meta({ id: "OwnBatch" });

/** A page of batches. */
export const BatchList = z.object({
  object: z.literal("list"),
  data: z.array(BatchObject),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
}).meta({ id: "BatchList" });

/** What a receiver gets at the end of a batch. */
export const BatchEvent = z.object({
  event: z.enum(TERMINAL_STATUSES.map((status) => `batch.${status}`)),
  id: about(z.string(), "The id of the batch."),
  created_at: seconds(),
  data: BatchObject,
}).meta({ id: "BatchEvent" });
