import { objectOf, parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { chargeText } from "../charge/charge_text.ts";
import { MAX_HOPS } from "./hops.ts";
import type { LongAttempt, SendHop } from "./long_attempt.ts";
import { jsonBytes } from "../relay/response_headers.ts";
import { streamError, unreadableReply } from "../relay/stream_errors.ts";
import { readWholeReply } from "../relay/whole_reply.ts";

/**
 * Reads a whole reply that may go on in further requests, as one reply. What was made before a later request fails is
 * charged.
 *
 * @throws {GatewayError} After a charge, so that no other provider is tried.
 * @throws {UpstreamFailure} As {@linkcode readWholeReply}.
 */
export async function readContinuedReply(
  response: OutboundResponse,
  attempt: LongAttempt,
  send: SendHop,
): Promise<Uint8Array<ArrayBuffer> | JoinedBytes> {
  const { hops } = attempt;
  const bytes = await readWholeReply(response, attempt);
  // No reply of one request has as much text, so that a large one is not joined with others.
  if (!(bytes instanceof Uint8Array)) return bytes;
  const first = bodyIn(bytes);
  if (first === null) return bytes; // the caller of this function reports it
  let reply = hops.observe(first);
  if (!hops.isPaused) return bytes;
  for (let hop = 1; hop < MAX_HOPS && hops.isPaused && hops.canGoOn(attempt); hop++) {
    const next = await nextReply(attempt, send);
    reply = hops.continuation.joined(reply, hops.observe(next));
  }
  return jsonBytes(hops.isPaused ? hops.ended(reply) : reply);
}

async function nextReply(attempt: LongAttempt, send: SendHop): Promise<JsonObject> {
  const { hops } = attempt;
  const usage = hops.usageAt(attempt);
  try {
    const response = await send(hops.next());
    const bytes = await readWholeReply(response, attempt);
    const body = bytes instanceof Uint8Array ? bodyIn(bytes) : null;
    if (body !== null) return body;
    response.cancel();
    throw unreadableReply(attempt);
  } catch (thrown) {
    const isLeft = thrown instanceof UpstreamFailure && thrown.kind === "cancelled";
    if (usage !== null) await chargeText(attempt, usage, isLeft ? "left" : "cut");
    throw isLeft ? thrown : finalError(thrown, attempt);
  }
}

/** A request that was refused in the middle of its reply is no mistake of the caller. */
function finalError(thrown: unknown, attempt: TextAttempt): GatewayError {
  const error = streamError(thrown, attempt);
  if (error.code !== "invalid_request") return error;
  return new GatewayError("upstream_error", error.message, { provider: attempt.provider.name, cause: thrown });
}

const DECODER = new TextDecoder();

function bodyIn(bytes: Uint8Array): JsonObject | null {
  return objectOf(parsedOrNull(DECODER.decode(bytes)));
}
