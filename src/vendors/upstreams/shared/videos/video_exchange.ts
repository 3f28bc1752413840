import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { jsonBody } from "../../contract/inline_file.ts";
import { creationFailureOf, UpstreamFailure } from "../../call/failure.ts";
import type { JsonRequestOptions, Outbound, VendorRefusal } from "../../call/outbound_call.ts";

/** The requests of a video adapter. `read` converts a response, which is null if it is empty. */
export interface VideoExchange {
  /**
   * Creates a job at most once, over a new connection. A failure has `accepted: "unknown"`, unless the vendor was not
   * reached or refused the job. A refusal is a 4xx, a 5xx whose body reports it, or a status after which the vendor's
   * own client retries. No idempotency key is sent: only Pika has one.
   *
   * @param body Each `InlineFile` in it is encoded while it is sent.
   */
  create<T>(path: string, body: JsonObject, read: (response: unknown) => T): Promise<T>;
  /** Sends a `GET` that the vendor responds to at once. */
  get<T>(path: string, read: (response: unknown) => T): Promise<T>;
  /** Changes a job at the vendor. Only the status of the response counts. */
  send(method: "POST" | "PUT" | "DELETE", path: string): Promise<void>;
}

/** Vendors download the input images before they respond. */
const CREATE_TIMEOUT_MS = 180_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 4_194_304;

/** The options of a vendor's exchanges. */
export interface VideoExchangeOptions {
  /** The maximum response size. Default: 4 MiB, which no response without an inline video reaches. */
  readonly capBytes?: number;
  /** Statuses after which the vendor's own client creates a job again. Default: none. */
  readonly resentStatuses?: readonly number[];
  /** Header fields of a creation. Default: only the provider's own. */
  readonly createHeaders?: Readonly<Record<string, string>>;
}

/**
 * Creates the exchanges of one adapter.
 *
 * @param readError Reads the vendor's error bodies.
 */
export function videoExchange(
  outbound: Outbound,
  readError: (body: unknown) => VendorRefusal,
  { capBytes = MAX_RESPONSE_BYTES, resentStatuses = [], createHeaders = {} }: VideoExchangeOptions = {},
): VideoExchange {
  const limited = (ms: number) => Math.min(ms, outbound.firstByteMs);
  const extras: JsonRequestOptions = {
    capBytes,
    firstByteMs: limited(REQUEST_TIMEOUT_MS),
    parse: parseKeepingIds,
    readError,
  };
  return {
    async create(path, body, read) {
      try {
        return await outbound.json("POST", path, jsonBody(body), read, {
          ...extras,
          firstByteMs: limited(CREATE_TIMEOUT_MS),
          freshConnection: true,
          headers: createHeaders,
        });
      } catch (thrown) {
        throw thrown instanceof UpstreamFailure ? creationFailureOf(thrown, resentStatuses) : thrown;
      }
    },
    get: (path, read) => outbound.json("GET", path, null, read, extras),
    send: (method, path) => outbound.json(method, path, null, () => {}, { ...extras, parse: () => null }),
  };
}

/**
 * Parses JSON. Integers beyond 2^53 become strings of their digits, because they are ids.
 *
 * @throws {SyntaxError}
 */
function parseKeepingIds(text: string): unknown {
  return JSON.parse(text, keepId as (this: unknown, key: string, value: unknown) => unknown);
}

/** The third argument contains the source text of a number (ECMAScript, "JSON.parse source text access"). */
function keepId(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? source : value;
}
