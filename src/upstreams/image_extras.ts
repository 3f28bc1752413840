import type { ImageCall } from "./image_upstream.ts";
import { IMAGE_REPLY_CAP_BYTES } from "./image_reply.ts";
import type { JsonExtras } from "./outbound_call.ts";

/** How the answer to an image request is fetched: under the caller's signal, up to the size of an image reply. */
export function imageExtras(call: ImageCall, readError: NonNullable<JsonExtras["readError"]>): JsonExtras {
  return {
    callerSignal: call.callerSignal,
    capBytes: IMAGE_REPLY_CAP_BYTES,
    readError,
    ...(call.reserve && { reserve: call.reserve }),
  };
}
