import type { StreamSource } from "../../calls/stream_relay.ts";
import { parseWithExactValues } from "../../../conversation/neutral/exact_values.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { replayed } from "./started_stream.ts";
import { failureOfReading, unreadableReply } from "../relay/stream_errors.ts";
import { EVENT_FIELDS, EVENTS_START, MAX_REPLY_BYTES } from "../relay/unexpected_framing.ts";
import { vendorStream } from "./vendor_stream.ts";

/** More characters are not needed to tell what a response is. */
const START_CHARACTERS = 8;
/** A longer whole reply is not parsed before it is relayed. */
const MAX_CHECKED_BYTES = 1_048_576;

/**
 * Reads a response of another media type until it is known to be a stream or a reply. Anything else is refused before
 * the response to the caller begins, so that another provider can be tried.
 *
 * @returns The stream with what was read.
 * @throws {UpstreamFailure} `broken` for anything else, and what a reply without one reports.
 */
export async function readableSource(
  response: OutboundResponse,
  attempt: TextAttempt,
  clock: Clock,
): Promise<StreamSource> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const decoder = new TextDecoder();
  let [start, length] = ["", 0];
  let kind: "unknown" | "events" | "whole" | "other" = "unknown";
  for (let chunk = await response.read(); chunk !== null; chunk = await response.read()) {
    chunks.push(chunk);
    length += chunk.length;
    attempt.request.memory.reserve(chunk.length);
    if (kind === "unknown") {
      start = (start + decoder.decode(chunk, { stream: true })).trimStart().slice(0, START_CHARACTERS);
      kind = kindOf(start);
    }
    if (kind === "events") return replayed(chunks, vendorStream(response, clock), null);
    if (kind === "other" || length > MAX_REPLY_BYTES) {
      response.cancel();
      throw unreadableReply(attempt);
    }
  }
  if (kind !== "whole") throw unreadableReply(attempt);
  if (length <= MAX_CHECKED_BYTES) checkReply(chunks, attempt);
  return replayed(chunks, ENDED, null);
}

/** @param start Without leading spaces; empty if nothing else has come. */
function kindOf(start: string): "unknown" | "events" | "whole" | "other" {
  // A list is no reply, but some vendors wrap a failure in one.
  if (/^(?:\[\s*)?\{/.test(start)) return "whole";
  if (/^\[\s*$/.test(start)) return "unknown";
  if (EVENTS_START.test(start)) return "events";
  return EVENT_FIELDS.some((field) => field.startsWith(start)) ? "unknown" : "other";
}

/** Throws if the whole response is not JSON, not a reply, or a failure that the vendor reports. */
function checkReply(chunks: readonly Uint8Array[], attempt: TextAttempt): void {
  try {
    attempt.endpoint.format.readReply(parseWithExactValues(new TextDecoder().decode(concatBytes(chunks))));
  } catch (cause) {
    throw failureOfReading(cause, attempt);
  }
}

const ENDED: StreamSource = {
  readNext: (callbacks) => queueMicrotask(() => callbacks.onEnd()),
  cancel() {},
  abandon() {},
  finish() {},
};
