import { errorLocation } from "../http/request_handler.ts";
import type { Log } from "../lib/log.ts";
import { onStreamFailure } from "../lib/output_stream.ts";

/** Logs each stream of this thread that ends because of a failure of the gateway. Returns a function that ends that. */
export function logStreamFailures(log: Log): () => void {
  return onStreamFailure((failure) => log.error("stream_failed", { reason: errorLocation(failure) }));
}
