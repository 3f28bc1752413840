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
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Adds the header fields to a response that the gateway has built. */
export function withSecurityHeaders(response: Response): Response {
  for (const name in SECURITY_HEADERS) response.headers.set(name, SECURITY_HEADERS[name]!);
  return response;
}
