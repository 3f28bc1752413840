import * as z from "zod";
import { BATCH_LIMITS } from "../../src/services/batches/records/batch.ts";
import { about } from "./schema.ts";

// The bodies of batches and files in the message and the content protocol, as `requests.ts` has those of others.

/** `POST /msgcompat/v1/messages/batches`. */
export const MessageBatchCreate = z.looseObject({
  requests: about(
    z.array(z.looseObject({ custom_id: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), params: z.looseObject({}) }))
      .min(1).max(BATCH_LIMITS.lines),
    "`params` is a request to `/msgcompat/v1/messages` without `stream`.",
  ),
}).meta({ id: "MessageBatchCreate" });

const inlined = z.looseObject({
  request: about(z.looseObject({}), "A request to the endpoint; a `model` in it overrides that of the path."),
  metadata: about(z.looseObject({}), "Comes back with the result. `key` names the request in the ledger.").nullish(),
});

/** `:batchGenerateContent` and `:asyncBatchEmbedContent`. */
export const ContentBatchCreate = z.looseObject({
  batch: z.looseObject({
    displayName: z.string().max(512).nullish(),
    inputConfig: about(
      z.looseObject({
        fileName: about(z.string(), "`files/` and the id of a file of lines `{key, request}`.").nullish(),
        requests: z.looseObject({ requests: z.array(inlined).min(1).max(BATCH_LIMITS.inlineRequests) }).nullish(),
      }),
      "Either `fileName` or `requests`. Required, in this spelling or as `input_config`.",
    ).nullish(),
    webhookConfig: about(z.looseObject({ uris: z.array(z.string()).length(1) }), "Gets the event of the end.")
      .nullish(),
  }),
}).meta({ id: "ContentBatchCreate" });

/** `POST /msgcompat/v1/files`. */
export const MessageFileCreate = z.looseObject({
  file: z.any().meta({ type: "string", format: "binary", description: "The content." }),
  expires_in_seconds: about(z.int().min(3_600).max(2_592_000), "The lifetime of the file.").optional(),
}).meta({ id: "MessageFileCreate" });
