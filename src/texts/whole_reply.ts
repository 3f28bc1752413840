import { GatewayError } from "../lib/gateway_error.ts";
import { hasMoreValuesThan } from "../lib/json_values.ts";
import type { OutboundResponse } from "../upstreams/outbound_call.ts";
import type { TextAttempt } from "./attempt.ts";
import { unreadableReply } from "./stream_errors.ts";
import { chargeText } from "./charge_text.ts";
import { estimatedUsageOf } from "./request_usage.ts";

/** The maximum size of a whole reply. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** Bytes of memory per byte of a whole reply: as received, as text, and as values or as the bytes to send. */
const REPLY_MEMORY_FACTOR = 3;
const BYTES_PER_TOKEN = 4;

/**
 * The maximum number of JSON values in a whole reply. Parsing more would delay other callers for more than a tenth of a
 * second.
 */
const MAX_REPLY_VALUES = 400_000;

/**
 * Reads a vendor's whole reply within the account's memory. The result is immediate if the reply has arrived already. A
 * reply that does not fit is charged by an estimate of the received part. The vendor has done its work, and callers
 * that exhaust their own memory must not be served for free.
 *
 * @throws {GatewayError} `overloaded`.
 * @throws {UpstreamFailure} As `OutboundResponse.readAll`, and for more than {@linkcode MAX_REPLY_VALUES}.
 */
export function readWholeReply(
  response: OutboundResponse,
  attempt: TextAttempt,
): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  const { memory } = attempt.request;
  let receivedBytes = 0;
  const reserve = (bytes: number) => {
    receivedBytes += bytes;
    memory.reserve(bytes * REPLY_MEMORY_FACTOR);
  };
  const onFailure = (error: unknown) => chargeReceived(error, receivedBytes, attempt);
  try {
    const arrived = response.takeArrived();
    if (arrived === null) {
      return response.readAll(MAX_REPLY_BYTES, reserve).then((bytes) => withFewValues(bytes, attempt), onFailure);
    }
    // It came in one read, so it is too short for too many values.
    reserve(arrived.length);
    return arrived;
  } catch (error) {
    return onFailure(error);
  }
}

async function withFewValues(bytes: Uint8Array<ArrayBuffer>, attempt: TextAttempt): Promise<Uint8Array<ArrayBuffer>> {
  if (!await hasMoreValuesThan(bytes, MAX_REPLY_VALUES)) return bytes;
  throw unreadableReply(attempt, new RangeError(`Reply has more than ${MAX_REPLY_VALUES} JSON values`));
}

/** Charges the received part of a reply that does not fit into memory, and throws the error for the caller. */
async function chargeReceived(error: unknown, receivedBytes: number, attempt: TextAttempt): Promise<never> {
  if (!(error instanceof GatewayError)) throw error;
  const usage = await estimatedUsageOf(attempt.request, Math.ceil(receivedBytes / BYTES_PER_TOKEN));
  await chargeText(attempt, usage, "cut");
  throw new GatewayError(
    "overloaded",
    "Not enough memory for the reply: too many requests are in progress; retry later",
    {
      retryAfterSeconds: error.details.retryAfterSeconds ?? RETRY_AFTER_SECONDS,
      provider: attempt.provider.name,
      cause: error,
    },
  );
}

const RETRY_AFTER_SECONDS = 5;
