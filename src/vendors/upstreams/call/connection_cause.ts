import type { ConnectionCause } from "../../../platform/net/http1/connection_error.ts";

/** Why a vendor was not reached, as the end of a sentence about it. Callers may read it: it names no address. */
export const CAUSE_TEXTS: Readonly<Record<ConnectionCause, string>> = {
  unresolved: "its host name cannot be resolved",
  refused: "it refuses the connection",
  no_route: "there is no route to its network",
  certificate_expired: "its certificate has expired or is not valid yet",
  certificate_name: "its certificate is for another host name",
  certificate_untrusted: "the issuer of its certificate is not trusted",
  certificate: "its certificate is not valid",
  tls: "the TLS connection fails",
  timeout: "the connection timed out",
  proxy_credentials: "the proxy refuses the gateway's credentials (status 407)",
  proxy: "the proxy refuses the connection",
};
