import { endSession, sessionToken } from "./session_state.ts";
import { noteAnswer, noteSilence } from "./reach.ts";
import { TEXTS } from "./texts.ts";

/** The code of a call without an answer of the gateway. */
export const UNREACHABLE = "unreachable";

const REQUEST_ID = "x-service-request-id";

/** A failed call of the gateway's API. */
export class ApiError extends Error {
  /**
   * Creates an error.
   *
   * @param status The HTTP status; 0 if there was no response.
   * @param code The gateway's code of the error.
   * @param requestId The id of the failed request; null if there was no response.
   */
  constructor(message: string, readonly status: number, readonly code: string, readonly requestId: string | null) {
    super(message);
  }
}

/**
 * What was thrown by a call, as the error that a page shows.
 *
 * @throws Anything else, which is a mistake of the console.
 */
export function shownFailure(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  throw thrown;
}

/** Parameters of a query. Empty ones are left out. */
export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** The address of an endpoint of the gateway's API for this session, such as `/admin/v1/providers`. */
export function apiAddress(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/console/api${path}${text === "" ? "" : `?${text}`}`;
}

/**
 * Reads from the gateway's API.
 *
 * @throws {ApiError}
 */
export async function read<T>(path: string, query: Query = {}, signal: AbortSignal | null = null): Promise<T> {
  return await send<T>(apiAddress(path, query), { signal });
}

/**
 * Changes something by the gateway's API.
 *
 * @param body Null for none.
 * @throws {ApiError}
 */
export async function change<T>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body: Readonly<Record<string, unknown>> | null = null,
): Promise<T> {
  return await send<T>(apiAddress(path), changeRequest(method, body));
}

/** A request that changes something, with the token of the session. */
export function changeRequest(method: string, body: Readonly<Record<string, unknown>> | null): RequestInit {
  const headers = { "x-console-token": sessionToken(), ...body !== null && { "content-type": "application/json" } };
  return { method, headers, body: body === null ? null : JSON.stringify(body) };
}

/**
 * Sends a request and reads its JSON. The session ends with a 401.
 *
 * @throws {ApiError}
 */
export async function send<T>(address: string, init: RequestInit): Promise<T> {
  const response = await sendForResponse(address, init);
  return await response.json().catch(() => null) as T;
}

/**
 * Sends a request and returns the response, whose body is not read. The session ends with a 401.
 *
 * @throws {ApiError} Also for a response that reports an error.
 */
export async function sendForResponse(address: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable();
  }
  if (isOfProxy(response)) throw unreachable();
  noteAnswer();
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  if (response.status === 401 && address.startsWith("/console/api/")) endSession();
  const { code = "unknown", message = TEXTS.app.answeredStatus(response.status) } = body?.error ?? {};
  throw new ApiError(message, response.status, code, response.headers.get(REQUEST_ID));
}

function unreachable(): ApiError {
  noteSilence();
  return new ApiError(TEXTS.app.unreachable, 0, UNREACHABLE, null);
}

/** Whether a proxy has answered in the place of a gateway that is away. The gateway gives each request an id. */
function isOfProxy({ status, headers }: Response): boolean {
  return [502, 503, 504].includes(status) && !headers.has(REQUEST_ID);
}
