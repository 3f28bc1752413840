import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { UpstreamFailure } from "./failure.ts";
import type { JsonRequestOptions, Outbound, OutboundCall } from "./outbound_call.ts";
import { isStreamedBody, type OutboundBody } from "./outbound_body.ts";

/** A JSON request and the reader of its response. */
export interface JsonExchange<T> {
  readonly method: OutboundCall["method"];
  readonly path: string;
  readonly body: JsonObject | OutboundBody | null;
  readonly read: (response: unknown) => T;
  readonly options: JsonRequestOptions;
}

const MAX_RESPONSE_BYTES = 1_048_576;
const encoder = new TextEncoder();

/**
 * Sends a request and reads the whole response. An empty response is read as null.
 *
 * @throws {UpstreamFailure} `broken` also for a response that is not JSON or has another shape.
 */
export async function exchangeJson<T>(outbound: Outbound, exchange: JsonExchange<T>): Promise<T> {
  const { method, path, body, read, options: options } = exchange;
  const response = await outbound.send({
    method,
    path,
    headers: options.headers ?? {},
    body: body === null || isStreamedBody(body) ? body : encoder.encode(JSON.stringify(body)),
    firstByteMs: options.firstByteMs ?? outbound.firstByteMs,
    callerSignal: options.callerSignal ?? null,
    freshConnection: options.freshConnection ?? false,
    readError: options.readError ?? chat.upstream.readError,
  });
  options.onResponse?.(response);
  const bytes = await response.readAll(options.capBytes ?? MAX_RESPONSE_BYTES, options.reserve);
  try {
    return readJsonResponse(outbound, bytes, read, options.parse);
  } catch (error) {
    response.cancel(); // its connection may have the replies of other requests
    throw error;
  }
}

/** Parses and reads the bytes of a whole response. Throws like {@linkcode exchangeJson}. */
export function readJsonResponse<T>(
  outbound: Outbound,
  bytes: Uint8Array,
  read: (response: unknown) => T,
  parse: (text: string) => unknown = JSON.parse,
): T {
  try {
    return read(bytes.length === 0 ? null : parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error;
    throw outbound.failure("broken", "", { accepted: "unknown", cause: error });
  }
}
