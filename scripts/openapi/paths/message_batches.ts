import * as z from "zod";
import { PAID_ERRORS } from "../errors.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { DRY_RUN, IDEMPOTENCY_KEY, MESSAGE_VERSIONS } from "../parameters.ts";
import { orDryRun } from "../replies/dry_run.ts";
import { DeletedMessageBatch, MessageBatch, MessageBatchList } from "../replies/message_batches.ts";
import { MessageBatchCreate } from "../batch_requests.ts";

const shared = { tag: "Batches", face: "message" } as const;
const ID = inPath("id", "The id of the batch.", z.string());
const one = { 200: { description: "The batch", json: MessageBatch } } as const;

/** The endpoints of batches of the message protocol. */
export const MESSAGE_BATCH_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "createMessageBatch",
    summary: "Create a batch of messages",
    description: "All requests are checked, and their highest cost is held until the batch ends.",
    parameters: [...MESSAGE_VERSIONS, DRY_RUN, IDEMPOTENCY_KEY],
    body: {
      json: MessageBatchCreate,
      examples: {
        "One request": {
          requests: [{
            custom_id: "one",
            params: {
              model: "sandbox/messages-1",
              max_tokens: 64,
              messages: [{ role: "user", content: "Hello" }],
            },
          }],
        },
      },
    },
    replies: { 200: { description: "The batch", json: orDryRun(MessageBatch) } },
    errors: PAID_ERRORS,
  },
  {
    ...shared,
    id: "listMessageBatches",
    summary: "List the key's own batches of messages",
    parameters: [
      inQuery("after_id", "The `last_id` of the page before.", z.string()),
      inQuery("before_id", "The `first_id` of the page after; not with `after_id`.", z.string()),
      inQuery("limit", "The most batches of a page.", z.int().min(1).max(1_000).default(20)),
    ],
    replies: { 200: { description: "A page, newest first", json: MessageBatchList } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "readMessageBatch",
    summary: "Read a batch of messages",
    parameters: [ID],
    replies: one,
    errors: [404, 429],
  },
  {
    ...shared,
    id: "readMessageBatchResults",
    summary: "Read the results of a batch of messages",
    description: "A line of JSON for each request: `custom_id`, and `result` with its `type`.",
    parameters: [ID],
    replies: {
      200: { description: "The results", other: [{ mediaType: "application/x-jsonl", description: "Lines of JSON" }] },
    },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "cancelMessageBatch",
    summary: "Cancel a batch of messages",
    description: "No further request begins. What was answered stays.",
    parameters: [ID],
    replies: one,
    errors: [404, 409],
  },
  {
    ...shared,
    id: "deleteMessageBatch",
    summary: "Delete an ended batch of messages with its results",
    parameters: [ID],
    replies: { 200: { description: "The batch is deleted", json: DeletedMessageBatch } },
    errors: [404, 409],
  },
];
