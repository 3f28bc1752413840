import * as z from "zod";
import { about } from "../schema.ts";
import { ServiceBatch } from "./batches.ts";

const at = () => about(z.string().nullable(), "RFC 3339.");

/** A batch of the message protocol. */
export const MessageBatch = z.object({
  id: about(z.string(), "`msgbatch_` and digits."),
  type: z.literal("message_batch"),
  processing_status: z.enum(["in_progress", "canceling", "ended"]),
  request_counts: about(
    z.object({
      processing: z.int(),
      succeeded: z.int(),
      errored: z.int(),
      canceled: z.int(),
      expired: z.int(),
    }),
    "All requests are `processing` until the batch has ended.",
  ),
  created_at: about(z.string(), "RFC 3339."),
  expires_at: about(z.string(), "RFC 3339."),
  ended_at: at(),
  cancel_initiated_at: at(),
  archived_at: z.null(),
  results_url: about(z.string().nullable(), "The address of the results, once the batch has ended."),
  service_batch: ServiceBatch,
}).meta({ id: "MessageBatch" });

/** A page of batches of the message protocol. */
export const MessageBatchList = z.object({
  data: z.array(MessageBatch),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
}).meta({ id: "MessageBatchList" });

/** A batch of the message protocol that was deleted. */
export const DeletedMessageBatch = z.object({ id: z.string(), type: z.literal("message_batch_deleted") })
  .meta({ id: "DeletedMessageBatch" });
