import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound, OutboundCall } from "../call/outbound_call.ts";
import { MAX_VECTOR_BYTES, type VectorList } from "../contract/vector_list.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

/** The vectors of a reply. */
export interface ExchangedVectors extends VectorList {
  /** Returns a response header by its lower-case name. */
  header(name: string): string | null;
}

/** A request for vectors and how its reply is read. */
export interface VectorRequest {
  readonly path: string;
  readonly body: JsonObject;
  /** Reads the reply. Throws if it is not valid, or has not exactly one vector for each input. */
  readonly read: (bytes: Uint8Array<ArrayBuffer>, count: number) => Promise<VectorList>;
  /** The expected number of vectors. */
  readonly count: number;
  /** Reads an error body. Default: the format of the default protocol. */
  readonly readError?: OutboundCall["readError"];
}

/** Above the largest reply: 2,048 vectors of 3,072 numbers as text. The memory limit of the gateway applies before. */
const MAX_REPLY_BYTES = 200_000_000;
/** For what is around the vectors. */
const OTHER_BYTES = 1_000_000;
const ENCODER = new TextEncoder();

/**
 * Sends a request for vectors and reads the reply.
 *
 * @throws {UpstreamFailure} `broken` also for a reply that is not valid.
 */
export async function exchangeVectors(
  outbound: Outbound,
  { path, body, read, count, readError = chat.upstream.readError }: VectorRequest,
  { reserve, onResponse }: WholeExchange,
): Promise<ExchangedVectors> {
  const response = await outbound.send({
    method: "POST",
    path,
    headers: {},
    body: ENCODER.encode(JSON.stringify(body)),
    firstByteMs: outbound.firstByteMs,
    // The vendor bills what it has begun, so a caller who leaves does not stop it.
    callerSignal: null,
    readError,
  });
  onResponse(response);
  const bytes = await response.readAll(Math.min(MAX_REPLY_BYTES, count * MAX_VECTOR_BYTES + OTHER_BYTES), reserve);
  try {
    return { ...await read(bytes, count), header: (name) => response.header(name) };
  } catch (cause) {
    throw outbound.failure("broken", "", { accepted: "unknown", cause });
  }
}
