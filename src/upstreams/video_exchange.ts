import type { JsonObject } from "../lib/json_object.ts";
import { UpstreamFailure, withDoubt } from "./failure.ts";
import type { JsonExtras, Outbound, VendorRefusal } from "./outbound_call.ts";

/** The exchanges of an adapter for videos with its vendor; `read` digests an answer, null when it is empty. */
export interface VideoExchange {
  /**
   * Starts a job, once at most: over a connection of its own, and a failure leaves open whether the vendor has begun
   * unless it was never reached or refused: with a 4xx, a 5xx whose body says so, or a status after which the vendor's
   * own client tries again. No vendor of videos has an idempotency key.
   */
  create<T>(path: string, body: JsonObject, read: (answer: unknown) => T): Promise<T>;
  /** Asks for something that a vendor knows at once. */
  ask<T>(path: string, read: (answer: unknown) => T): Promise<T>;
  /** Tells the vendor to change a job; what it answers beside its status is of no interest. */
  tell(method: "POST" | "PUT" | "DELETE", path: string): Promise<void>;
}

/** Vendors read the pictures that they were given before they answer. */
const CREATE_MS = 180_000;
const REQUEST_TIMEOUT_MS = 30_000;
const ANSWER_CAP_BYTES = 4_194_304;

/** What the exchanges of vendors differ in. */
export interface VideoExchangeOptions {
  /** The longest answer. Default: 4 MiB, which no answer without a video in it reaches. */
  readonly capBytes?: number;
  /** Statuses after which the vendor's own client creates a job again. Default: none. */
  readonly resentStatuses?: readonly number[];
  /** Sent with a creation. Default: none beside the provider's own. */
  readonly createHeaders?: Readonly<Record<string, string>>;
}

/**
 * Opens the exchanges of one adapter.
 *
 * @param readError What the vendor's error bodies say.
 */
export function videoExchange(
  outbound: Outbound,
  readError: (body: unknown) => VendorRefusal,
  { capBytes = ANSWER_CAP_BYTES, resentStatuses = [], createHeaders = {} }: VideoExchangeOptions = {},
): VideoExchange {
  const within = (ms: number) => Math.min(ms, outbound.firstByteMs);
  const extras: JsonExtras = {
    capBytes,
    firstByteMs: within(REQUEST_TIMEOUT_MS),
    parse: parseKeepingIds,
    readError,
  };
  return {
    async create(path, body, read) {
      try {
        return await outbound.json("POST", path, body, read, {
          ...extras,
          firstByteMs: within(CREATE_MS),
          freshConnection: true,
          headers: createHeaders,
        });
      } catch (thrown) {
        throw thrown instanceof UpstreamFailure ? withDoubt(thrown, resentStatuses) : thrown;
      }
    },
    ask: (path, read) => outbound.json("GET", path, null, read, extras),
    tell: (method, path) => outbound.json(method, path, null, () => {}, { ...extras, parse: () => null }),
  };
}

/**
 * Reads JSON; whole numbers beyond 2^53 become texts of their digits, because they are ids.
 *
 * @throws {SyntaxError}
 */
function parseKeepingIds(text: string): unknown {
  return JSON.parse(text, keepId as (this: unknown, key: string, value: unknown) => unknown);
}

/** The third argument holds a number as it was written (ECMAScript, "JSON.parse source text access"). */
function keepId(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? source : value;
}
