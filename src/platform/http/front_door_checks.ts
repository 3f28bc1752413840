import { GatewayError } from "../lib/basics/gateway_error.ts";
import type { HeaderReader } from "./request/headers.ts";
import { hostOf, isHost } from "./request/host.ts";

/**
 * What the front door refuses before a request reaches an endpoint. Each check is made where the connection was
 * accepted: a request that is sent on to another thread has a connection and framing of its own.
 */

/** The default of the maximum length of path and query together in characters. */
const MAX_URL_CHARACTERS = 8192;

/** Whether one of the checks of this file refuses a request. */
export function isRefused(request: Request, headers: HeaderReader): boolean {
  try {
    checkHost(request, headers);
    const { url } = request;
    checkLength(url.length - Math.max(pathStartOf(url), 0));
    checkTransferCoding(headers);
    contentCodingOf(headers);
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

/** A coding of request bodies that is decoded. */
export type ContentCoding = "gzip" | "zstd";

/** Codings by their names. `x-gzip` is `gzip` (RFC 9110, 8.4.1.3). */
const CONTENT_CODINGS: ReadonlyMap<string, ContentCoding | null> = new Map([
  ["identity", null],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["zstd", "zstd"],
]);

/**
 * Refuses codings of the transfer.
 *
 * @throws {GatewayError} `invalid_request` for another one than `chunked`.
 */
export function checkTransferCoding(headers: HeaderReader): void {
  const transfer = headers.get("transfer-encoding");
  if (transfer !== null && transfer.toLowerCase() !== "chunked") {
    throw new GatewayError("invalid_request", "Cannot read this Transfer-Encoding: expected chunked or none", {
      closeConnection: true,
    });
  }
}

/**
 * Returns the coding of the body, which is decoded before anything reads it: if one parser decoded a body and another
 * did not, they would see two requests. Null for none.
 *
 * @throws {GatewayError} `invalid_request` for another coding, or for several.
 */
export function contentCodingOf(headers: HeaderReader): ContentCoding | null {
  const content = headers.get("content-encoding");
  if (content === null) return null;
  const coding = CONTENT_CODINGS.get(content.trim().toLowerCase());
  if (coding !== undefined) return coding;
  const message = "Cannot read this Content-Encoding: expected gzip, zstd or identity, and only one";
  throw new GatewayError("invalid_request", message, { status: 415 });
}
