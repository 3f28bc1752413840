/**
 * Only files of the gateway run, and nothing is loaded from or sent to another host. Styles in attributes are set by
 * scripts, which the policy allows (CSP Level 3, 6.7.3.2).
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The header fields of every response of the console, errors included. */
const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = Object.entries({
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
});

/**
 * Answers of the API are no pages. A browser that opens one, such as a picture of a vendor with a script in it, gives
 * it an origin of its own, which reads nothing of the console (CSP Level 3, 6.3.2).
 */
const API_POLICY = `sandbox; ${CONTENT_SECURITY_POLICY}`;

/**
 * Adds the header fields to a response that the gateway has built.
 *
 * @param isPage Whether it is a part of the console. Otherwise it is an answer of the API.
 */
export function withSecurityHeaders(response: Response, isPage: boolean): Response {
  for (const [name, value] of SECURITY_HEADERS) response.headers.set(name, value);
  if (!isPage) response.headers.set("content-security-policy", API_POLICY);
  return response;
}
