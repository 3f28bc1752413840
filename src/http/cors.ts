/**
 * Cross-origin reading by browsers (Fetch standard, "CORS protocol"). Every credential here travels in a header that
 * the page must set itself, never in a cookie, so any origin may ask.
 */

const ALLOWED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";

/** A star covers every field but `Authorization`; the usual ones are spelled out for browsers that know no star. */
const ALLOWED_HEADERS = "Authorization, Content-Type, Accept, X-Api-Key, X-Content-Api-Key, X-Goog-Api-Key, Api-Key, " +
  "Msg-Version, Anthropic-Version, Anthropic-Beta, Anthropic-Dangerous-Direct-Browser-Access, OpenAI-Beta, " +
  "OpenAI-Organization, OpenAI-Project, Idempotency-Key, X-Service-Provider-Type, X-Service-Dry-Run, " +
  "X-Goog-Api-Client, *";

const EXPOSED_HEADERS = "X-Service-Request-Id, X-Request-Id, Request-Id, X-Service-Provider, X-Service-Model, " +
  "X-Service-Dropped, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed, Content-Disposition, *";

/** True for the question that a browser asks before the request itself. */
export function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("origin") &&
    request.headers.has("access-control-request-method");
}

/** Answers a preflight: everything may be asked; the request itself is judged when it comes. */
export function preflightAnswer(): Response {
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

/** Lets the page that asked read the answer. Only requests of browsers carry `Origin`. */
export function allowReading(request: Request, answer: Headers): void {
  if (!request.headers.has("origin")) return;
  answer.set("access-control-allow-origin", "*");
  answer.set("access-control-expose-headers", EXPOSED_HEADERS);
}
