import type { ImageCall } from "./image_upstream.ts";
import { IMAGE_REPLY_CAP_BYTES } from "./image_reply.ts";
import type { JsonRequestOptions } from "./outbound_call.ts";

/** Returns the exchange options of an image request: the caller's signal and the maximum response size. */
export function imageRequestOptions(
  call: ImageCall,
  readError: NonNullable<JsonRequestOptions["readError"]>,
): JsonRequestOptions {
  return {
    callerSignal: call.callerSignal,
    capBytes: IMAGE_REPLY_CAP_BYTES,
    readError,
    ...(call.reserve && { reserve: call.reserve }),
    ...(call.onResponse && { onResponse: call.onResponse }),
  };
}
