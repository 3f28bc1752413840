import * as z from "zod";
import { about } from "../schema.ts";
import { ServiceBatch } from "./batches.ts";

const status = z.looseObject({ code: about(z.int(), "Of google.rpc.Code."), message: z.string() });

const inlined = z.object({
  metadata: about(z.looseObject({}), "That of the request.").optional(),
  response: about(z.looseObject({}), "What the endpoint returns.").optional(),
  error: status.optional(),
});

const output = z.looseObject({
  responsesFile: about(z.string(), "The file with the results of the lines of a file.").optional(),
  inlinedResponses: about(
    z.object({ inlinedResponses: z.array(inlined) }),
    "The results of requests that were in the create, in their order. Lists leave them out.",
  ).optional(),
});

/** A batch of the content protocol: an operation. */
export const ContentBatch = z.object({
  name: about(z.string(), "`batches/` and digits."),
  metadata: z.object({
    "@type": z.string(),
    model: z.string(),
    displayName: z.string().optional(),
    state: z.enum(
      ["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"].map((each) => `BATCH_STATE_${each}`),
    ),
    createTime: about(z.string(), "RFC 3339."),
    updateTime: about(z.string(), "RFC 3339."),
    endTime: about(z.string(), "RFC 3339.").optional(),
    batchStats: z.object({
      requestCount: z.string(),
      successfulRequestCount: z.string(),
      failedRequestCount: z.string(),
      pendingRequestCount: z.string(),
    }),
    output: output.optional(),
    serviceBatch: ServiceBatch,
  }),
  done: z.boolean(),
  response: about(output, "The same as `metadata.output`, of a batch that was run to its end.").optional(),
  error: about(status, "Of a batch that was cancelled or expired.").optional(),
}).meta({ id: "ContentBatch" });

/** A page of batches of the content protocol. */
export const ContentBatchList = z.object({
  operations: z.array(ContentBatch),
  nextPageToken: z.string().optional(),
}).meta({ id: "ContentBatchList" });
