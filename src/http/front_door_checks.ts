import { GatewayError } from "../lib/gateway_error.ts";
import type { HeaderReader } from "./headers.ts";
import { hostOf, isHost } from "./host.ts";

/**
 * What the front door refuses before a request reaches an endpoint. Each check is made where the connection was
 * accepted: a request that is sent on to another thread has a connection and framing of its own.
 */

/** The default of the maximum length of path and query together in characters. */
const MAX_URL_CHARACTERS = 8192;

/** Whether {@linkcode checkHost}, {@linkcode checkLength} or {@linkcode checkCodings} refuses a request. */
export function isRefused(request: Request, headers: HeaderReader): boolean {
  try {
    checkHost(request, headers);
    const { url } = request;
    checkLength(url.length - Math.max(pathStartOf(url), 0));
    checkCodings(headers);
    return false;
  } catch {
    return true; // the request handler makes the same checks, and answers with the error
  }
}

/**
 * Runs before any use of `request.url`, which contains the unchecked header.
 *
 * @throws {GatewayError} `invalid_request` if there is no valid host. RFC 9112, 3.2: 400.
 */
export function checkHost(request: Request, headers: HeaderReader): void {
  const host = hostOf(request, headers);
  if (host !== null && isHost(host)) return;
  throw new GatewayError("invalid_request", "Cannot read the Host header: expected one host with an optional port", {
    closeConnection: true,
  });
}

/** Where the path starts in the address of a request; -1 if it has none. */
export function pathStartOf(url: string): number {
  return url.indexOf("/", "http://".length + 1);
}

/**
 * Checks the length of path and query together.
 *
 * @throws {GatewayError} `invalid_request` with status 414.
 */
export function checkLength(characters: number, longest: number = MAX_URL_CHARACTERS): void {
  if (characters <= longest) return;
  throw new GatewayError(
    "invalid_request",
    `Cannot read an address this long: expected at most ${longest} characters`,
    { status: 414 },
  );
}

/**
 * Content codings are rejected: if one parser decodes a body and another does not, they see two requests.
 *
 * @throws {GatewayError} `invalid_request` for a coding of the transfer or of the content.
 */
export function checkCodings(headers: HeaderReader): void {
  const transfer = headers.get("transfer-encoding");
  if (transfer !== null && transfer.toLowerCase() !== "chunked") {
    throw new GatewayError("invalid_request", "Cannot read this Transfer-Encoding: expected chunked or none", {
      closeConnection: true,
    });
  }
  const content = headers.get("content-encoding");
  if (content !== null && content.toLowerCase() !== "identity") {
    throw new GatewayError("invalid_request", "Cannot read this Content-Encoding: expected identity or none", {
      status: 415,
    });
  }
}
