import type { StreamSource } from "../../calls/stream_relay.ts";
import type { LateContinuation } from "../../../conversation/contract/continuation.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import type { LongAttempt, SendHop } from "./long_attempt.ts";
import { factsAt } from "../plan/served_endpoints.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const hopsModule = new Late(() => import("./hops.ts"));
const continuedReplyModule = new Late(() => import("./continued_reply.ts"));
const continuedStreamModule = new Late(() => import("./continued_stream.ts"));

/** Whether the reply of an attempt may go on in further requests. */
export function hasHops(attempt: TextAttempt): attempt is LongAttempt {
  return attempt.hops !== undefined;
}

/**
 * Returns how the reply of an attempt goes on after the vendor's limit for one request. Null if the model does not do
 * that, or the caller does it by itself.
 */
export function continuationOf(
  { request, model, provider, candidate, endpoint, isBatched }: TextAttempt,
): LateContinuation | null {
  const { continuation } = endpoint.format;
  if (isBatched === true || continuation === undefined || request.body[continuation.member] !== undefined) return null;
  return factsAt({ provider, model, name: candidate.model }).hopTokens === null ? null : continuation;
}

/** Returns an attempt that counts the requests of its reply. Loaded for models that need it. */
export async function longAttempt(
  attempt: TextAttempt,
  continuation: LateContinuation,
  keepsEnd: boolean,
): Promise<LongAttempt> {
  const [{ Hops }, loaded] = await Promise.all([hopsModule.load(), continuation.code.load()]);
  return { ...attempt, hops: new Hops(loaded, keepsEnd) };
}

/** Reads a whole reply with its further requests, see `readContinuedReply`. Loaded for models that need it. */
export async function continuedReply(
  response: OutboundResponse,
  attempt: LongAttempt,
  send: SendHop,
): Promise<Uint8Array<ArrayBuffer> | JoinedBytes> {
  const { readContinuedReply } = await continuedReplyModule.load();
  return await readContinuedReply(response, attempt, send);
}

/** Returns a stream with those of its further requests. Loaded for models that need it. */
export async function continuedStream(
  response: OutboundResponse,
  attempt: LongAttempt,
  parts: { readonly clock: Clock; readonly send: SendHop },
): Promise<StreamSource> {
  const { ContinuedStream } = await continuedStreamModule.load();
  return new ContinuedStream(response, attempt, parts);
}
