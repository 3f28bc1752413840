import type { ImageCall } from "../../contract/image_upstream.ts";
import type { JsonRequestOptions } from "../../call/outbound_call.ts";

/** The maximum size of a response with images. Ten images of the largest size of any vendor are smaller. */
export const IMAGE_REPLY_CAP_BYTES = 134_217_728;

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
