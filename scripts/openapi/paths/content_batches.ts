import * as z from "zod";
import { PAID_ERRORS } from "../errors.ts";
import { ContentBatchCreate } from "../batch_requests.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { DRY_RUN, IDEMPOTENCY_KEY } from "../parameters.ts";
import { ContentBatch, ContentBatchList } from "../replies/content_batches.ts";
import { orDryRun } from "../replies/dry_run.ts";

const shared = { tag: "Batches", face: "content" } as const;
const ID = inPath("id", "The name of the batch without `batches/`.", z.string());
const MODEL = inPath("model", "The model of requests that name none.", z.string());
const done = { 200: { description: "Done", json: z.object({}) } } as const;

const create = {
  ...shared,
  description: "All requests are checked, and their highest cost is held until the batch ends.",
  parameters: [MODEL, DRY_RUN, IDEMPOTENCY_KEY],
  replies: { 200: { description: "The batch", json: orDryRun(ContentBatch) } },
  errors: PAID_ERRORS,
} as const;

const bodyWith = (request: object) => ({
  json: ContentBatchCreate,
  examples: {
    "One request": { batch: { inputConfig: { requests: { requests: [{ request, metadata: { key: "one" } }] } } } },
  },
});

const HELLO = { parts: [{ text: "Hello" }] };

/** The endpoints of batches of the content protocol. */
export const CONTENT_BATCH_OPERATIONS: readonly Operation[] = [
  {
    ...create,
    id: "createContentBatch",
    summary: "Create a batch of `generateContent`",
    body: bodyWith({ contents: [HELLO] }),
  },
  {
    ...create,
    id: "createEmbedBatch",
    summary: "Create a batch of `embedContent`",
    body: bodyWith({ content: HELLO }),
  },
  {
    ...shared,
    id: "listContentBatches",
    summary: "List the key's own batches of the content protocol",
    parameters: [
      inQuery("pageSize", "The most of a page, at most 100; 0 for the default, 20.", z.int().min(0)),
      inQuery("pageToken", "The `nextPageToken` of the page before.", z.string()),
    ],
    replies: { 200: { description: "A page, newest first", json: ContentBatchList } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "readContentBatch",
    summary: "Read a batch of the content protocol",
    parameters: [ID],
    replies: { 200: { description: "The batch", json: ContentBatch } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "cancelContentBatch",
    summary: "Cancel a batch of the content protocol",
    description: "No further request begins. What was answered stays. A batch that has ended stays as it is.",
    parameters: [ID],
    replies: done,
    errors: [404],
  },
  {
    ...shared,
    id: "deleteContentBatch",
    summary: "Delete a batch of the content protocol with its results",
    description: "A batch that has not ended is cancelled.",
    parameters: [ID],
    replies: done,
    errors: [404],
  },
];
