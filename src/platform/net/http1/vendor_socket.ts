import type { Proxy } from "../proxy.ts";
import { Connection } from "./connection.ts";
import { ConnectionError } from "./connection_error.ts";
import { headerLinesOf } from "./header_lines.ts";
import { hostFieldOf, type Origin } from "./wire_request.ts";

/** How to reach an origin. */
export interface VendorRoute {
  /** The destination of the connection. */
  readonly origin: Origin;
  /** Null for a direct connection. */
  readonly proxy: Proxy | null;
  /** Extra trusted roots, PEM. */
  readonly caCerts: readonly string[];
}

/**
 * Opens a socket to a vendor: directly, or to a proxy, with a tunnel if the origin is https (RFC 9110, 9.3.6). It uses
 * Deno's sockets, whose reads cost half of those of `node:tls`.
 *
 * @throws {ConnectionError} `connect` if the proxy refuses; otherwise what Deno throws.
 */
export async function openVendorSocket({ origin, proxy, caCerts }: VendorRoute): Promise<Deno.Conn> {
  const { tls, hostname } = origin;
  const socket = await Deno.connect(proxy ?? origin);
  socket.setNoDelay(true);
  if (!tls) return socket;
  try {
    if (proxy !== null) await openTunnel(socket, origin, proxy);
    return await Deno.startTls(socket, { hostname, caCerts: [...caCerts], alpnProtocols: ["http/1.1"] });
  } catch (error) {
    closeQuietly(socket);
    throw error;
  }
}

/** The header line that authenticates to a proxy; empty without credentials. */
export function proxyAuthorizationLine({ authorization }: Proxy): string {
  return authorization === null ? "" : headerLinesOf({ "proxy-authorization": authorization });
}

async function openTunnel(socket: Deno.TcpConn, origin: Origin, proxy: Proxy): Promise<void> {
  const { hostname, port } = origin;
  const authority = hostFieldOf({ ...origin, tls: false, port: 80 }) + `:${port}`;
  const toProxy = { tls: false, hostname: proxy.hostname, port: proxy.port };
  const connection = new Connection({ origin: toProxy, host: authority, address: null, openedAt: 0 }, socket);
  const headerLines = proxyAuthorizationLine(proxy);
  const { head, early } = await connection.exchange({ method: "CONNECT", path: authority, headerLines, body: null });
  if (head.status < 200 || head.status > 299) {
    throw new ConnectionError(
      `The proxy refused the connection to ${hostname} with status ${head.status}`,
      "connect",
      "unsent",
    );
  }
  // In TLS the client speaks first, so these bytes do not come from the vendor.
  if (early.length > 0) {
    throw new ConnectionError("The proxy sent data before the tunnel was used", "connect", "unsent");
  }
}

function closeQuietly(socket: Deno.TcpConn): void {
  try {
    socket.close();
  } catch {
    // TLS owns it, or it is closed already.
  }
}
