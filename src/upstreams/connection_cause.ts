/** Why there is no connection to a vendor. */
export type ConnectionCause =
  | "unresolved"
  | "refused"
  | "expired_certificate"
  | "other_name"
  | "unknown_issuer"
  | "certificate"
  | "tls"
  | "timed_out"
  | "proxy_credentials"
  | "proxy"
  | "unknown";

/** What happened, as the end of a sentence about the vendor; null if nothing more is known. */
export const CAUSE_TEXTS: Readonly<Record<ConnectionCause, string | null>> = {
  unresolved: "its host name cannot be resolved",
  refused: "it refuses the connection",
  expired_certificate: "its certificate has expired",
  other_name: "its certificate is for another host name",
  unknown_issuer: "the issuer of its certificate is not trusted",
  certificate: "its certificate is not valid",
  tls: "the TLS connection fails",
  timed_out: "the connection timed out",
  proxy_credentials: "the proxy refuses the gateway's credentials (status 407)",
  proxy: "the proxy refuses the connection",
  unknown: null,
};

/** The first pattern that fits the messages of an error and its causes. The platform reports no codes for most. */
const PATTERNS: readonly (readonly [pattern: RegExp, cause: ConnectionCause])[] = [
  [/proxy.*\b407\b/i, "proxy_credentials"],
  [/proxy/i, "proxy"],
  [/lookup|name or service|nodename|dns|resolve|name resolution/i, "unresolved"],
  [/certificate.*expired|CertExpired|certificate: Expired/i, "expired_certificate"],
  [/NotValidForName|not valid for name/i, "other_name"],
  [/UnknownIssuer|unknown issuer|self.signed|unable to get (?:local )?issuer/i, "unknown_issuer"],
  [/certificate/i, "certificate"],
  [/tls|handshake|InvalidContentType|corrupt message/i, "tls"],
  [/refused/i, "refused"],
  [/timed out/i, "timed_out"],
];

const MAX_CAUSES = 8;

/** Classifies an error without a connection by its messages, and those of its causes. None of them is shown. */
export function connectionCauseOf(error: unknown): ConnectionCause {
  const texts: string[] = [];
  for (let cause = error; cause instanceof Error && texts.length < MAX_CAUSES; cause = cause.cause) {
    texts.push(`${cause.name}: ${cause.message}`);
  }
  const text = texts.join("; ");
  return PATTERNS.find(([pattern]) => pattern.test(text))?.[1] ?? "unknown";
}
