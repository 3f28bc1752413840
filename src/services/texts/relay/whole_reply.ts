import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import { hasMoreValuesThan } from "../../../platform/lib/json/json_values.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { chargeText } from "../charge/charge_text.ts";
import { estimatedUsageOf } from "../charge/request_usage.ts";

/** The maximum size of a whole reply. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** Bytes of memory per byte of a whole reply: as received, as text, and as values or as the bytes to send. */
const REPLY_MEMORY_FACTOR = 3;
const BYTES_PER_TOKEN = 4;

/** A larger reply is read in a thread: each of its steps, even joining its bytes, would delay other callers. */
const MAX_OWN_BYTES = 1_048_576;
/** A reply with more JSON values is read in a thread too: the time of parsing depends on their number. */
const MAX_OWN_VALUES = 20_000;

/**
 * Reads a vendor's whole reply within the account's memory. The result is immediate if the reply has arrived already. A
 * reply that does not fit is charged by an estimate of the received part. The vendor has done its work, and callers
 * that exhaust their own memory must not be served for free.
 *
 * @returns Its bytes; in pieces if they are too many to be read in this thread.
 * @throws {GatewayError} `overloaded`.
 * @throws {UpstreamFailure} As `OutboundResponse.readBody`.
 */
export function readWholeReply(
  response: OutboundResponse,
  attempt: TextAttempt,
): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer> | JoinedBytes> {
  const { memory } = attempt.request;
  let receivedBytes = 0;
  const reserve = (bytes: number) => {
    receivedBytes += bytes;
    memory.reserve(bytes * REPLY_MEMORY_FACTOR);
  };
  const onFailure = (error: unknown) => refuse(error, receivedBytes, attempt);
  try {
    const arrived = response.takeArrived();
    if (arrived === null) {
      return response.readBody(MAX_REPLY_BYTES, reserve).then(joinedIfSmall, onFailure);
    }
    // It came in one read, so it is too short for too many values.
    reserve(arrived.length);
    return arrived;
  } catch (error) {
    return onFailure(error);
  }
}

async function joinedIfSmall(reply: JoinedBytes): Promise<Uint8Array<ArrayBuffer> | JoinedBytes> {
  if (reply.length > MAX_OWN_BYTES) return reply;
  const bytes = reply.joined();
  return await hasMoreValuesThan(bytes, MAX_OWN_VALUES) ? reply : bytes;
}

/** Charges a reply that cannot be read by the number of its bytes. */
export async function chargeReceived(receivedBytes: number, attempt: TextAttempt): Promise<void> {
  const usage = attempt.hops?.usageAt(attempt) ??
    await estimatedUsageOf(attempt.request, Math.ceil(receivedBytes / BYTES_PER_TOKEN));
  await chargeText(attempt, usage, "cut");
}

/** Charges the received part of a reply that does not fit into memory, and throws the error for the caller. */
async function refuse(error: unknown, receivedBytes: number, attempt: TextAttempt): Promise<never> {
  if (!(error instanceof GatewayError)) throw error;
  await chargeReceived(receivedBytes, attempt);
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
