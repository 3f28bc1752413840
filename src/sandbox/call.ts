import type { JsonObject } from "../lib/json_object.ts";
import { isObject, parsedOrNull } from "../conversation/wire_value.ts";
import { Refusal } from "./refusal.ts";
import type { SimulatedVendors } from "./simulated_vendors.ts";

/** A request to one family, its body read. */
export interface Call {
  readonly method: string;
  /** Below the family's prefix, percent-encoded as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The body; empty for a form. */
  readonly text: string;
  /** The body of a request that is a form; null for every other. */
  readonly form: FormData | null;
  readonly requestId: string;
  /** Fires when the client leaves before its answer begins, or the sandbox stops. */
  readonly gone: AbortSignal;
  readonly world: SimulatedVendors;
  /** Notes that the client has left. */
  leave(): void;
}

/** The endpoints of one vendor. */
export interface Family {
  /** The first segment of its paths: `/openai`. */
  readonly prefix: string;
  /** @throws {Refusal} In the vendor's words. */
  answer(call: Call): Response | Promise<Response>;
  /** Writes a refusal as the vendor does. */
  refuse(refusal: Refusal, call: Call): Response;
}

/**
 * The body as a JSON object.
 *
 * @param message How the vendor says that it is none.
 * @throws {Refusal} 400 with that message.
 */
export function bodyOf(call: Call, message: string): JsonObject {
  const body = parsedOrNull(call.text);
  if (!isObject(body)) throw new Refusal(400, message);
  return body;
}

/** An answer of JSON. */
export function jsonAnswer(body: unknown, headers: HeadersInit = {}, status: number = 200): Response {
  const answer = new Response(JSON.stringify(body), { status, headers });
  answer.headers.set("content-type", "application/json");
  return answer;
}

/** The header field by which two of the vendors say when to come back. */
export function retryAfterHeader({ details }: Refusal): Record<string, string> {
  const { retryAfterSeconds } = details;
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

/** True when the request carries a bearer token that its vendor takes. */
export function hasGoodBearer(call: Call): boolean {
  const key = /^Bearer +(\S+)$/i.exec(call.headers.get("authorization") ?? "")?.[1];
  return key !== undefined && !isBadKey(key);
}

/** True for a key that its vendor refuses. */
export function isBadKey(key: string): boolean {
  return key.startsWith("bad");
}

/** True for the name of a model that no vendor has. */
export function isMissingModel(model: string): boolean {
  return model.includes("missing");
}
