import * as z from "zod";
import { PAID_ERRORS } from "../errors.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { DRY_RUN, IDEMPOTENCY_KEY } from "../parameters.ts";
import { BatchList, BatchObject, OwnBatch } from "../replies/batches.ts";
import { orDryRun } from "../replies/dry_run.ts";
import { pageOf } from "../replies/own.ts";
import { BatchCreate } from "../requests.ts";

const shared = { tag: "Batches", face: "default" } as const;
const ID = inPath("id", "The id of the batch.", z.string());

const OWN_ID = inPath("id", "The `id` of the batch, or its `caller_id` unless that has a slash.", z.string());

/** The endpoints of batches. */
export const BATCH_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "createBatch",
    summary: "Create a batch",
    description: "The lines are checked while they are read, and their highest cost is held until the batch ends. " +
      "Invalid lines are a failed batch with the first errors.",
    parameters: [DRY_RUN, IDEMPOTENCY_KEY],
    body: {
      json: BatchCreate,
      examples: {
        "Requests in the body": {
          endpoint: "/v1/chat/completions",
          completion_window: "24h",
          requests: [{
            custom_id: "one",
            body: { model: "sandbox/chat-1", messages: [{ role: "user", content: "Hello" }] },
          }],
        },
      },
    },
    replies: {
      200: { description: "The batch of a file, or a dry run", json: orDryRun(BatchObject) },
      202: { description: "The batch of requests in the body", json: BatchObject },
    },
    errors: PAID_ERRORS,
  },
  {
    ...shared,
    id: "listBatches",
    summary: "List the key's own batches",
    parameters: [
      inQuery("after", "The `last_id` of the page before.", z.string()),
      inQuery("limit", "The most batches of a page.", z.int().min(1).max(100).default(20)),
    ],
    replies: { 200: { description: "A page, newest first", json: BatchList } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "readBatch",
    summary: "Read a batch",
    parameters: [ID],
    replies: { 200: { description: "The batch", json: BatchObject } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "cancelBatch",
    summary: "Cancel a batch",
    description: "No further line begins. What was answered stays, and the rest of the money is released.",
    parameters: [ID],
    replies: { 200: { description: "The batch", json: BatchObject } },
    errors: [404, 409],
  },
  {
    ...shared,
    id: "listOwnBatches",
    summary: "List the key's batches of every protocol",
    parameters: [
      inQuery("after", "The `next` of the page before.", z.string()),
      inQuery("limit", "The most batches of a page.", z.int().min(1).max(100).default(20)),
    ],
    replies: { 200: { description: "A page, newest first", json: pageOf(OwnBatch) } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "readOwnBatch",
    summary: "Read a batch of any protocol",
    parameters: [OWN_ID],
    replies: { 200: { description: "The batch", json: OwnBatch } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "cancelOwnBatch",
    summary: "Cancel a batch of any protocol",
    parameters: [OWN_ID],
    replies: { 200: { description: "The batch", json: OwnBatch } },
    errors: [404, 409],
  },
];
