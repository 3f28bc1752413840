import type { ByteParts } from "../../lib/bytes/byte_parts.ts";

/** The destination of a connection. */
export interface Origin {
  /** True for https. */
  readonly tls: boolean;
  /** A name or an IP address, IPv6 without brackets. */
  readonly hostname: string;
  /** The TCP port, including the default one. */
  readonly port: number;
}

/** A request body that is read while it is sent, so that it is never buffered completely. */
export interface StreamedBody {
  /** The number of bytes, which the request declares in advance; null to send the body in chunks. */
  readonly lengthBytes: number | null;
  /** The bytes from the start, on every call: a request may have to be sent again. */
  open(): AsyncIterable<Uint8Array>;
}

/** A request in wire format. */
export interface WireRequest {
  /** As in the request line, such as `POST`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Header lines, each ended by CR LF, without those of the body's length and without `host`. See `headerLinesOf`. */
  readonly headerLines: string;
  /** Null for a request without a body. */
  readonly body: Uint8Array | ByteParts | StreamedBody | null;
  /** True if an idle connection must not be used, since its end could leave the outcome unknown. Default: false. */
  readonly freshConnection?: boolean;
  /**
   * True if sending the request twice is harmless because it carries an idempotency key. Default: true for GET and
   * HEAD, else false. See `mayResend`.
   */
  readonly isRepeatable?: boolean;
}

/** The origin of an http or https address. */
export function originOf(url: URL): Origin {
  const tls = url.protocol === "https:";
  return { tls, hostname: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || (tls ? 443 : 80)) };
}

/** The `host` header for an origin; without the scheme's default port. */
export function hostFieldOf({ tls, hostname, port }: Origin): string {
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return port === (tls ? 443 : 80) ? name : `${name}:${port}`;
}
