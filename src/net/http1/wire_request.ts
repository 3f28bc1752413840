/** Where a connection goes. */
export interface Origin {
  /** True for https. */
  readonly tls: boolean;
  /** A name or an IP address, IPv6 without brackets. */
  readonly hostname: string;
  /** The TCP port, also where it is the usual one. */
  readonly port: number;
}

/** A request body that is read while it is sent, so that it never stands whole in memory. */
export interface StreamedBody {
  /** How many bytes there are; the request says so before the first is read. */
  readonly lengthBytes: number;
  /** The bytes from the start, each time it is called: a request may have to be sent once more. */
  open(): AsyncIterable<Uint8Array>;
}

/** One request, ready for the wire. */
export interface WireRequest {
  /** As it stands in the request line, such as `POST`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Header lines, each ended by CR LF, without length or host. See `headerLinesOf`. */
  readonly headerLines: string;
  /** Null for a request without a body. */
  readonly body: Uint8Array | StreamedBody | null;
  /** True when it must not go over a kept connection, whose end could leave the outcome unknown. Default: false. */
  readonly freshConnection?: boolean;
  /**
   * True when sending it twice does no harm, as it carries an idempotency key. Default: true of GET and HEAD, else
   * false. See `mayResend`.
   */
  readonly isRepeatable?: boolean;
}

/** The origin that an http or https address names. */
export function originOf(url: URL): Origin {
  const tls = url.protocol === "https:";
  return { tls, hostname: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || (tls ? 443 : 80)) };
}

/** The `host` field of requests to an origin: the port only where it is not the scheme's own. */
export function hostFieldOf({ tls, hostname, port }: Origin): string {
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return port === (tls ? 443 : 80) ? name : `${name}:${port}`;
}
