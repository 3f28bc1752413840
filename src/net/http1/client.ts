import type { Clock } from "../../lib/clock.ts";
import { KeptConnections } from "../kept_connections.ts";
import { Connection } from "./connection.ts";
import { ConnectionError } from "./connection_error.ts";
import { NO_PROXIES, type Proxies, type Proxy, proxyFor } from "../proxy.ts";
import { type Exchanged, exchangeOver } from "./resend.ts";
import { type HttpResponse, responseOf } from "./response.ts";
import { openVendorSocket, proxyAuthorizationLine } from "./vendor_socket.ts";
import { hostFieldOf, type Origin, type WireRequest } from "./wire_request.ts";

/**
 * HTTP/1.1 toward vendors, over sockets that stay open. Decision 0021 compares it with `fetch`, `node:http` and undici.
 */
export interface HttpClient {
  /**
   * Sends one request and resolves with the head of its response. A request is sent again by itself only as `mayResend`
   * allows.
   *
   * @param onOpen Called with the way to cancel, before anything is sent; cancelling makes the pending call fail.
   * @throws {ConnectionError}
   */
  send(origin: Origin, request: WireRequest, onOpen?: (cancel: () => void) => void): Promise<HttpResponse>;
  /** Closes idle sockets; those in use end with their response. */
  close(): void;
}

/** Settings of a client; times in milliseconds. */
export interface HttpClientOptions {
  /** Measures timeouts and how long a connection was unused. */
  readonly clock: Clock;
  /** Until a connection stands, TLS included. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /**
   * How long an unused connection is kept, unless the server tells less. Default 4,000. See {@linkcode
   * KeptConnections}.
   */
  readonly idleMs?: number;
  /** Extra trusted roots, PEM. */
  readonly caCerts?: readonly string[];
  /** Default: none. */
  readonly proxies?: Proxies;
}

/** Opens a client. See {@linkcode HttpClient}. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new PooledClient(options);
}

const DEFAULT_CONNECT_MS = 10_000;
/** A vendor's name can move to other addresses. */
const MAX_AGE_MS = 300_000;
const MAX_IDLE_PER_HOST = 256;
const MAX_IDLE = 1_024;

class PooledClient implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #kept: KeptConnections;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    const { clock, idleMs } = options;
    const limits = { idleMs, ageMs: MAX_AGE_MS, perHost: MAX_IDLE_PER_HOST, inAll: MAX_IDLE };
    this.#kept = new KeptConnections(clock, limits);
  }

  async send(origin: Origin, request: WireRequest, onOpen?: (cancel: () => void) => void): Promise<HttpResponse> {
    const host = hostFieldOf(origin);
    const proxy = proxyFor(origin, this.#options.proxies ?? NO_PROXIES);
    const current = new Cancellation();
    onOpen?.(() => current.cancel());
    const source = {
      take: () => this.#kept.takeQuiet(origin.tls, host, null),
      open: () => current.unlessCancelled(this.#connect(origin, host, proxy)),
      onConnection: (connection: Connection) => current.setConnection(connection),
    };
    const wire = proxy === null || origin.tls ? request : throughProxy(request, host, proxy);
    const exchanged = await exchangeOver(source, wire, this.#options.clock);
    const { connection, head } = exchanged;
    if (proxy !== null && !origin.tls) refuseProxyAnswer(exchanged);
    return responseOf(exchanged, () => {
      // From here on the connection may carry somebody else's exchange: a late cancel must not reach it.
      current.setConnection(null);
      this.#kept.keep(connection, head.keepAliveMs);
    });
  }

  close(): void {
    this.#kept.close();
  }

  async #connect(origin: Origin, host: string, proxy: Proxy | null): Promise<Connection> {
    const { clock, connectTimeoutMs = DEFAULT_CONNECT_MS, caCerts = [] } = this.#options;
    let isLate = false;
    let halfOpen: Deno.Conn | null = null;
    const opening = openVendorSocket({ origin, proxy, caCerts }).then(async (socket) => {
      halfOpen = socket;
      if (isLate) closeQuietly(socket);
      else await shakeHands(socket);
      return socket;
    });
    const timeout = new Promise<never>((_, reject) => {
      const stop = clock.after(connectTimeoutMs, () => {
        isLate = true;
        closeQuietly(halfOpen);
        reject(new ConnectionError("Cannot connect: no answer in time", "connect", "unsent"));
      });
      opening.then(stop, stop);
    });
    try {
      const socket = await Promise.race([opening, timeout]);
      return new Connection({ origin, host, address: null, openedAt: clock.now() }, socket);
    } catch (error) {
      closeQuietly(halfOpen);
      if (error instanceof ConnectionError && error.kind === "connect") throw error;
      throw new ConnectionError("Cannot connect", "connect", "unsent", error);
    }
  }
}

/** The way to end one request, whatever it waits for. */
class Cancellation {
  #isCancelled = false;
  #connection: Connection | null = null;
  #onCancel: () => void = () => {};

  cancel(): void {
    this.#isCancelled = true;
    this.#onCancel();
    this.#connection?.cancel();
  }

  /** The connection, or a failure at once when the request is cancelled; a connection that comes later is closed. */
  unlessCancelled(opening: Promise<Connection>): Promise<Connection> {
    return new Promise((resolve, reject) => {
      this.#onCancel = () => reject(cancelled());
      opening.then((connection) => {
        if (this.#isCancelled) connection.close();
        resolve(connection);
      }, reject);
    });
  }

  /** Throws when the request is cancelled already. */
  setConnection(connection: Connection | null): void {
    this.#connection = connection;
    if (connection === null || !this.#isCancelled) return;
    connection.close();
    throw cancelled();
  }
}

/** A request to an http origin as its proxy takes it (RFC 9112, 3.2.2). */
function throughProxy(request: WireRequest, host: string, proxy: Proxy): WireRequest {
  return {
    ...request,
    path: `http://${host}${request.path}`,
    headerLines: proxyAuthorizationLine(proxy) + request.headerLines,
  };
}

/** A 407 is the proxy's own; the vendor has not seen the request. */
function refuseProxyAnswer({ connection, head }: Exchanged): void {
  if (head.status !== 407) return;
  connection.close();
  throw new ConnectionError("Proxy refused the connection with status 407", "connect", "unsent");
}

function cancelled(): ConnectionError {
  return new ConnectionError("Request cancelled", "cancelled", "unsent");
}

/**
 * Completes TLS. Else it takes place under the first write, and a refused certificate looks like a request that broke
 * off.
 */
async function shakeHands(socket: Deno.Conn): Promise<void> {
  if ("handshake" in socket) await (socket as Deno.TlsConn).handshake();
}

function closeQuietly(socket: Deno.Conn | null): void {
  try {
    socket?.close();
  } catch {
    // A handshake that failed has closed it.
  }
}
