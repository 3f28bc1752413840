import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { checkValueCount } from "../../../platform/lib/json/json_values.ts";
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
/** No vendor's response has more. Parsed, each value can need a hundred times the memory of its text. */
const MAX_RESPONSE_VALUES = 100_000;
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
    return await readJsonResponse(outbound, bytes, read, options);
  } catch (error) {
    response.cancel(); // its connection may have the replies of other requests
    throw error;
  }
}

/** Parses and reads the bytes of a whole response. Throws like {@linkcode exchangeJson}. */
export async function readJsonResponse<T>(
  outbound: Outbound,
  bytes: Uint8Array,
  read: (response: unknown) => T,
  { parse = JSON.parse, maxValues = MAX_RESPONSE_VALUES }: Pick<JsonRequestOptions, "parse" | "maxValues"> = {},
): Promise<T> {
  try {
    await checkValueCount(bytes, maxValues);
    return read(bytes.length === 0 ? null : parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error;
    throw outbound.failure("broken", "", { accepted: "unknown", cause: error });
  }
}
