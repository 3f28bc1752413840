/**
 * How Node.js sockets report certificates.
 *
 * Passing root certificates to such a socket replaces the platform's own. Passing those as well costs 17 ms per
 * connection, since Deno parses them each time. A chain that {@linkcode isUntrusted} with the operator's roots is
 * therefore verified again with the platform's roots, over a new connection.
 */

/** Whether a Node.js socket error means that the chain ends at no trusted root. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.has(codeOf(error));
}

/** OpenSSL's codes for a chain that ends at no trusted root (`X509_V_ERR_…`), as Node.js reports them. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

/**
 * Why a handshake failed, as a code; null if unknown.
 *
 * @param cause The cause of an {@linkcode EgressError} of the kind `tls`.
 */
export function tlsFailureCode(cause: unknown): string | null {
  const code = codeOf(cause);
  if (code === "CERT_HAS_EXPIRED") return "certificate_expired";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "certificate_name";
  if (isUntrusted(cause)) return "certificate_untrusted";
  if (/CERT/.test(code)) return "certificate";
  return /^ERR_SSL_|^EPROTO$/.test(code) ? "protocol" : null;
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}
