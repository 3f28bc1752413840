import type { JsonObject } from "../lib/json_object.ts";
import { isObject, parsedOrNull } from "../conversation/wire_value.ts";
import { Refusal } from "./refusal.ts";
import type { SimulatedVendors } from "./simulated_vendors.ts";

/** A request to one vendor, with its body read. */
export interface Call {
  readonly method: string;
  /** The path after the vendor's prefix, percent-encoded as sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The body. Empty for a multipart form. */
  readonly text: string;
  /** The body of a multipart form, else null. */
  readonly form: FormData | null;
  readonly requestId: string;
  /** Fires when the client disconnects before its response begins, or when the sandbox stops. */
  readonly gone: AbortSignal;
  readonly world: SimulatedVendors;
  /** Records that the client has disconnected. */
  leave(): void;
}

/** The endpoints of one vendor. */
export interface Family {
  /** The first segment of its paths: `/openai`. */
  readonly prefix: string;
  /** @throws {Refusal} With the vendor's own message. */
  answer(call: Call): Response | Promise<Response>;
  /** Writes an error in the vendor's format. */
  refuse(refusal: Refusal, call: Call): Response;
}

/**
 * Returns the body as a JSON object.
 *
 * @param message The vendor's error message for any other body.
 * @throws {Refusal} 400 with that message.
 */
export function bodyOf(call: Call, message: string): JsonObject {
  const body = parsedOrNull(call.text);
  if (!isObject(body)) throw new Refusal(400, message);
  return body;
}

/** Creates a JSON response. */
export function jsonAnswer(body: unknown, headers: HeadersInit = {}, status: number = 200): Response {
  const answer = new Response(JSON.stringify(body), { status, headers });
  answer.headers.set("content-type", "application/json");
  return answer;
}

/** Returns the `retry-after` header field, which two of the vendors send. */
export function retryAfterHeader({ details }: Refusal): Record<string, string> {
  const { retryAfterSeconds } = details;
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

/** Whether the request carries a bearer token that its vendor accepts. */
export function hasGoodBearer(call: Call): boolean {
  const key = /^Bearer +(\S+)$/i.exec(call.headers.get("authorization") ?? "")?.[1];
  return key !== undefined && !isBadKey(key);
}

/** Whether the vendor rejects the key. */
export function isBadKey(key: string): boolean {
  return key.startsWith("bad");
}

/** Whether the name is that of a model that no vendor has. */
export function isMissingModel(model: string): boolean {
  return model.includes("missing");
}
