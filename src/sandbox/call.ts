import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { isObject, parsedOrNull } from "../conversation/neutral/wire_value.ts";
import type { MaybePromise } from "../platform/lib/basics/maybe_promise.ts";
import { SimulatedError } from "./simulated_error.ts";
import type { SimulatedVendors } from "./simulated_vendors.ts";

/** A request to one vendor, with its body read. */
export interface Call {
  readonly method: string;
  /** The first segments of the path, which select the vendor: `/openai`. */
  readonly prefix: string;
  /** The path after the prefix, percent-encoded as sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The body. Empty for a multipart form. */
  readonly text: string;
  /** The body of a multipart form, else null. */
  readonly form: FormData | null;
  readonly requestId: string;
  /** Fires when the client disconnects before its response begins, or when the sandbox stops. */
  readonly signal: AbortSignal;
  readonly vendors: SimulatedVendors;
  /** Records that the client has disconnected. */
  onDisconnect(): void;
}

/** The endpoints of one vendor. */
export interface VendorApi {
  /** The first segment of its paths: `/openai`. */
  readonly prefix: string;
  /** @throws {SimulatedError} With the vendor's own message. */
  handle(call: Call): MaybePromise<Response>;
  /** Writes an error in the vendor's format. */
  writeError(error: SimulatedError, call: Call): Response;
}

/**
 * Returns the body as a JSON object.
 *
 * @param message The vendor's error message for any other body.
 * @throws {SimulatedError} 400 with that message.
 */
export function bodyOf(call: Call, message: string): JsonObject {
  const body = parsedOrNull(call.text);
  if (!isObject(body)) throw new SimulatedError(400, message);
  return body;
}

/** Creates a JSON response. */
export function jsonResponse(body: unknown, headers: HeadersInit = {}, status: number = 200): Response {
  const response = new Response(JSON.stringify(body), { status, headers });
  response.headers.set("content-type", "application/json");
  return response;
}

/** Returns the `retry-after` header field, which two of the vendors send. */
export function retryAfterHeader({ details }: SimulatedError): Record<string, string> {
  const { retryAfterSeconds } = details;
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

/** Whether the request carries a bearer token that its vendor accepts. */
export function hasValidBearer(call: Call): boolean {
  const key = /^Bearer +(\S+)$/i.exec(call.headers.get("authorization") ?? "")?.[1];
  return key !== undefined && !isRejectedKey(key);
}

/** Whether the vendor rejects the key. */
export function isRejectedKey(key: string): boolean {
  return key.startsWith("bad");
}

/** Whether the name is that of a model that no vendor has. */
export function isMissingModel(model: string): boolean {
  return model.includes("missing");
}
