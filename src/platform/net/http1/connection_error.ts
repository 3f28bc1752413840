/**
 * The type of failure. `connect`: no connection was made. `closed`: it ended early. `cancelled`: the gateway cancelled
 * it. `protocol`: the response is not valid HTTP/1.1. `body`: the request's body could not be read or did not have its
 * declared length.
 */
export type ConnectionFailure = "connect" | "closed" | "cancelled" | "protocol" | "body";

/**
 * The progress of an exchange. `unsent`: no byte of the request was written, so the server cannot have started. `sent`:
 * some bytes may have been written. `answered`: some bytes of the response were read.
 */
export type ExchangeProgress = "unsent" | "sent" | "answered";

/** A connection failure, with the facts that decide whether a request may be retried. */
export class ConnectionError extends Error {
  /** The name in stack traces. */
  override readonly name = "ConnectionError";

  /**
   * Creates the error.
   *
   * @param message What happened, without any data that was sent or received.
   * @param kind The code to branch on.
   * @param progress How far the exchange came.
   * @param cause The underlying error, if any.
   */
  constructor(
    message: string,
    readonly kind: ConnectionFailure,
    readonly progress: ExchangeProgress,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/**
 * Whether an error of a socket's function is a mistake of the gateway, such as a wrong argument or a missing
 * permission, and no report of the network. It is thrown as it is, since no vendor has caused it.
 */
export function isOwnMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError ||
    error instanceof Deno.errors.NotCapable;
}

/**
 * Why no connection to a vendor was established. The first five are those that deliveries of webhooks record.
 * - `unresolved`: the name has no address, or no resolver responded.
 * - `certificate_untrusted`: the chain ends at no trusted root.
 * - `certificate_expired`: the certificate has ended, or begins later by this machine's clock.
 * - `certificate_name`: the certificate is for other names.
 * - `certificate`: the certificate is invalid for another reason.
 * - `tls`: the handshake failed, such as with a server that does not speak TLS.
 * - `refused`: nothing listens at the port.
 * - `no_route`: the network or the host is not reachable.
 * - `timeout`: the connection was not established in time.
 * - `proxy_credentials`: the proxy refused the credentials of the gateway, with 407.
 * - `proxy`: the proxy refused it for another reason.
 */
export type ConnectionCause =
  | "unresolved"
  | "certificate_untrusted"
  | "certificate_expired"
  | "certificate_name"
  | "certificate"
  | "tls"
  | "refused"
  | "no_route"
  | "timeout"
  | "proxy_credentials"
  | "proxy";

/**
 * By the words of messages, first match: the gateway's own, those of rustls, and those of the operating system. The
 * first two can contain names of hosts.
 */
const CAUSES: readonly (readonly [pattern: RegExp, cause: ConnectionCause])[] = [
  [/^ConnectionError: The proxy .* with status 407(?:;|$)/, "proxy_credentials"],
  [/^ConnectionError: The proxy/, "proxy"],
  [/NotValidForName|not valid for (?:any )?name/, "certificate_name"],
  [/UnknownIssuer|CaUsedAsEndEntity|self[- ]signed/, "certificate_untrusted"],
  [/certificate (?:has )?expired|not valid (?:yet|before|after)|Expired|NotValidYet/, "certificate_expired"],
  [/certificate/i, "certificate"],
  [/\btls\b|handshake|InvalidContentType|corrupt message|alert/i, "tls"],
  [/lookup|name or service|nodename|\bdns\b|resol(?:ve|ution)/i, "unresolved"],
  [/refused/i, "refused"],
  [/unreachable|no route/i, "no_route"],
  [/timed out/i, "timeout"],
];

const MAX_CAUSES = 8;

/**
 * Why a connection was not established; null if the error does not tell.
 *
 * @param error What the platform threw, or the {@linkcode ConnectionError} of it.
 */
export function connectionCauseOf(error: unknown): ConnectionCause | null {
  const texts: string[] = [];
  for (let cause = error; cause instanceof Error && texts.length < MAX_CAUSES; cause = cause.cause) {
    // The gateway's own words for a connection that failed are no report of the platform.
    if (!(cause instanceof ConnectionError) || cause.cause === undefined) texts.push(`${cause.name}: ${cause.message}`);
  }
  const text = texts.join("; ");
  return CAUSES.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}
