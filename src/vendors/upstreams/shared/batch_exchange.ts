import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { JsonRequestOptions, Outbound } from "../call/outbound_call.ts";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { OutboundCall, OutboundResponse } from "../call/outbound_call.ts";
import type { ResultContent } from "../contract/batch_upstream.ts";

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

/** A content that is read from its vendor. */
interface ReadContent {
  readonly outbound: Outbound;
  readonly path: string;
  /** The first byte that is needed. Default: 0. */
  readonly from?: number;
  /** Default: that of OpenAI's format. */
  readonly readError?: OutboundCall["readError"];
}

/** Opens a content at a byte, if the vendor sends parts, or at its start. Source: RFC 9110, 14.2 and 15.3.7. */
export async function openContent(
  { outbound, path, from = 0, readError = chat.upstream.readError }: ReadContent,
): Promise<ResultContent> {
  const call = { method: "GET", path, body: null, firstByteMs: ANSWER_TIMEOUT_MS, callerSignal: null } as const;
  const headers = from === 0 ? {} : { range: `bytes=${from}-` };
  const response = await nullIfAtEnd(() => outbound.send({ ...call, headers, readError }));
  const [, first = String(from)] = /^bytes (\d{1,15})-/.exec(response?.header("content-range") ?? "") ?? [];
  return { from: response !== null && response.status !== 206 ? 0 : Number(first), chunks: chunksOf(response) };
}

/** Returns null if the vendor has nothing from the first byte on. */
async function nullIfAtEnd(send: () => Promise<OutboundResponse>): Promise<OutboundResponse | null> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof UpstreamFailure && error.facts.status === 416) return null;
    throw error;
  }
}

async function* chunksOf(response: OutboundResponse | null): AsyncGenerator<Uint8Array> {
  if (response === null) return;
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
