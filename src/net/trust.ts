/**
 * What handshakes of Node's sockets say of a certificate.
 *
 * Whoever names roots to such a socket gives up the usual ones, and naming those as well costs 17 ms for each
 * connection, since Deno reads them anew each time. So a chain that {@linkcode isUntrusted} under the operator's roots
 * is looked at once more with the usual ones, over a new connection: whether it ends at one of two sets can be asked of
 * one after the other.
 */

/** True for an error by which a socket of Node says that a chain ends at no root that is trusted. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.has(codeOf(error));
}

/** OpenSSL's words for a chain that ends at no root that is trusted (`X509_V_ERR_…`), as Node gives them. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

/**
 * Why a handshake failed, in a word; null when there is no more to say.
 *
 * @param cause What an {@linkcode EgressError} of the kind `tls` was caused by.
 */
export function tlsReasonOf(cause: unknown): string | null {
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
