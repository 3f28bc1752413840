import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { JsonRequestOptions, Outbound } from "../call/outbound_call.ts";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { OutboundCall } from "../call/outbound_call.ts";

/** A vendor answers about a batch within this time; the replies to its lines are another request. */
const ANSWER_TIMEOUT_MS = 120_000;
/** Pages of lists, and batches with their states. */
const MAX_ANSWER_BYTES = 4_194_304;

/** The options of every exchange about batches. A create must reach the vendor at most once. */
export const BATCH_CALL = {
  freshConnection: true,
  firstByteMs: ANSWER_TIMEOUT_MS,
  capBytes: MAX_ANSWER_BYTES,
} as const satisfies JsonRequestOptions;

/** Returns null if the vendor answers with 404. */
export async function nullIfMissing<T>(send: () => Promise<T>): Promise<T | null> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof UpstreamFailure && error.facts.status === 404) return null;
    throw error;
  }
}

/** Sends a request whose object may have ended or be gone: the vendor refuses it with 400, 404 or 409 then. */
export async function ignoreMissing(send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    const { status } = error instanceof UpstreamFailure ? error.facts : { status: null };
    if (status !== 400 && status !== 404 && status !== 409) throw error;
  }
}

/** Streams the bytes that the vendor answers to a request. */
export async function* streamedBytes(
  outbound: Outbound,
  path: string,
  readError: OutboundCall["readError"] = chat.upstream.readError,
): AsyncGenerator<Uint8Array> {
  const response = await outbound.send({
    method: "GET",
    path,
    headers: {},
    body: null,
    firstByteMs: ANSWER_TIMEOUT_MS,
    callerSignal: null,
    readError,
  });
  let isRead = false;
  try {
    for (let bytes = await response.read(); bytes !== null; bytes = await response.read()) yield bytes;
    isRead = true;
  } finally {
    if (!isRead) response.cancel();
  }
}

/** The JSON text of a member that is an object, as it was sent; null if there is none. */
export function readMember(json: Uint8Array<ArrayBuffer>, name: string): Uint8Array<ArrayBuffer> | null {
  const { scan } = jsonObjectOf(json);
  const member = scan.members.find(({ key }) => key === name);
  if (member === undefined) return null;
  const value = json.slice(member.valueStart, member.valueEnd);
  return value[0] === 0x7b ? value : null;
}
