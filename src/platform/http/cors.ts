import type { HeaderReader } from "./request/headers.ts";

/**
 * CORS for browsers (Fetch standard, "CORS protocol"). Every credential is a header that the page sets itself, never a
 * cookie, so any origin is allowed.
 */

const ALLOWED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";

/**
 * A wildcard covers every field except `Authorization`. Common fields are listed for browsers without wildcard support.
 */
const ALLOWED_HEADERS = "Authorization, Content-Type, Accept, X-Api-Key, X-Content-Api-Key, X-Goog-Api-Key, Api-Key, " +
  "Msg-Version, Anthropic-Version, Anthropic-Beta, Anthropic-Dangerous-Direct-Browser-Access, OpenAI-Beta, " +
  "OpenAI-Organization, OpenAI-Project, Idempotency-Key, Last-Event-ID, X-Service-Provider-Type, X-Service-Dry-Run, " +
  "X-Service-Resume, " +
  "X-Goog-Api-Client, *";

const EXPOSED_HEADERS = "X-Service-Request-Id, X-Request-Id, Request-Id, X-Service-Provider, X-Service-Model, " +
  "X-Service-Dropped, Retry-After, Link, RateLimit, RateLimit-Policy, Idempotent-Replayed, " +
  "X-Service-Original-Request-Id, X-Service-Interrupted, X-Service-Resume, Content-Disposition, *";

/** Whether this is a CORS preflight request. */
export function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("origin") &&
    request.headers.has("access-control-request-method");
}

/** Answers a preflight. Everything is allowed here; the request itself is checked when it arrives. */
export function preflightResponse(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": ALLOWED_METHODS,
      "access-control-allow-headers": ALLOWED_HEADERS,
      "access-control-max-age": "7200",
    },
  });
}

/** Adds the fields that allow the requesting page to read the response. Only browsers send `Origin`. */
export function allowOrigin(headers: HeaderReader, fields: Record<string, string>): void {
  if (headers.get("origin") === null) return;
  fields["access-control-allow-origin"] = "*";
  fields["access-control-expose-headers"] = EXPOSED_HEADERS;
}
