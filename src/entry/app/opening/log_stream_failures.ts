import { errorLocation } from "../../../platform/http/request_handler.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { onStreamFailure } from "../../../platform/lib/streams/output_stream.ts";

/** Logs each stream of this thread that ends because of a failure of the gateway. Returns a function that ends that. */
export function logStreamFailures(log: Log): () => void {
  return onStreamFailure((failure) => log.error("stream_failed", { reason: errorLocation(failure) }));
}
