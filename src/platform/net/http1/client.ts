import type { Clock } from "../../lib/basics/clock.ts";
import { IdleConnections, type IdleLimits } from "../idle_connections.ts";
import { Connection } from "./connection.ts";
import { ConnectionError, isOwnMistake } from "./connection_error.ts";
import { NO_PROXIES, type Proxies, type Proxy, proxyFor } from "../proxy.ts";
import { type ConnectionSource, type Exchanged, exchangeOver } from "./resend.ts";
import { type HttpResponse, responseOf } from "./response.ts";
import { descriptorShortage } from "../own_failure.ts";
import { openVendorSocket, proxyAuthorizationLine } from "./vendor_socket.ts";
import { hostFieldOf, type Origin, type WireRequest } from "./wire_request.ts";

/**
 * An HTTP/1.1 client for vendors with persistent connections. Decision 0021 compares it with `fetch`, `node:http` and
 * undici.
 */
export interface HttpClient {
  /**
   * Sends one request and resolves with the head of its response. A request is retried automatically only as
   * `mayResend` allows.
   *
   * @param onOpen Called with a function that cancels the request, before anything is sent. Cancelling makes the
   * pending call fail.
   * @throws {ConnectionError} What another end of the connection causes. Any other error is one of the gateway.
   * @throws {GatewayError} `overloaded` if no descriptor is free for a connection.
   */
  send(origin: Origin, request: WireRequest, onOpen?: (cancel: () => void) => void): Promise<HttpResponse>;
  /** Closes idle sockets. Sockets in use close after their response. */
  close(): void;
}

/** Settings of a client; times in milliseconds. */
export interface HttpClientOptions {
  /** Measures timeouts and idle time. */
  readonly clock: Clock;
  /** The time limit for a connection, including TLS. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /**
   * How long an idle connection is kept, unless the server states a shorter time. Default 4,000. See
   * {@linkcode IdleConnections}.
   */
  readonly idleMs?: number;
  /** Additional trusted root certificates in PEM. */
  readonly caCerts?: readonly string[];
  /** Default: none. */
  readonly proxies?: Proxies;
}

/** Creates a client. See {@linkcode HttpClient}. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new PooledClient(options);
}

const DEFAULT_CONNECT_MS = 10_000;
/** A vendor's name may resolve to other addresses after some time. */
const MAX_AGE_MS = 300_000;
const MAX_IDLE_PER_HOST = 256;
const MAX_IDLE = 1_024;

class PooledClient implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #kept: IdleConnections;
  /** Computed once per origin, since the origin of a provider does not change. */
  readonly #routes = new WeakMap<Origin, Route>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
    const { clock, idleMs } = options;
    const limits: IdleLimits = {
      ...(idleMs !== undefined && { idleMs }),
      ageMs: MAX_AGE_MS,
      perHost: MAX_IDLE_PER_HOST,
      total: MAX_IDLE,
    };
    this.#kept = new IdleConnections(clock, limits);
  }

  send(origin: Origin, request: WireRequest, onOpen?: (cancel: () => void) => void): Promise<HttpResponse> {
    const { host, proxy } = this.#routeTo(origin);
    const current = new Attempt(this.#kept, origin.tls, host, () => this.#connect(origin, host, proxy));
    onOpen?.(() => current.cancel());
    const isProxied = proxy !== null && !origin.tls;
    const wire = isProxied ? throughProxy(request, host, proxy) : request;
    return exchangeOver(current, wire, this.#options.clock, (exchanged) => {
      if (isProxied) refuseProxyAnswer(exchanged);
      return responseOf(exchanged, () => {
        // From here on the connection may carry another request, which a late cancellation must not affect.
        current.finish();
        this.#kept.release(exchanged.connection, exchanged.head.keepAliveMs);
      });
    });
  }

  close(): void {
    this.#kept.close();
  }

  #routeTo(origin: Origin): Route {
    let route = this.#routes.get(origin);
    if (route === undefined) {
      route = { host: hostFieldOf(origin), proxy: proxyFor(origin, this.#options.proxies ?? NO_PROXIES) };
      this.#routes.set(origin, route);
    }
    return route;
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
        reject(new ConnectionError("Cannot connect: the connection timed out", "connect", "unsent"));
      });
      opening.then(stop, stop);
    });
    try {
      const socket = await Promise.race([opening, timeout]);
      return new Connection({ origin, host, address: null, openedAt: clock.now() }, socket);
    } catch (error) {
      closeQuietly(halfOpen);
      if (isOwnMistake(error) || (error instanceof ConnectionError && error.kind === "connect")) throw error;
      const shortage = descriptorShortage(error);
      if (shortage !== null) throw shortage;
      throw new ConnectionError("Cannot connect", "connect", "unsent", error);
    }
  }
}

/** How an origin is reached. */
interface Route {
  /** The `host` header. */
  readonly host: string;
  /** Null for a direct connection. */
  readonly proxy: Proxy | null;
}

/** Supplies the connections of one request, which can be cancelled at any stage. */
class Attempt implements ConnectionSource {
  #isCancelled = false;
  #connection: Connection | null = null;
  #onCancel: (() => void) | null = null;

  constructor(
    readonly kept: IdleConnections,
    readonly isTls: boolean,
    readonly host: string,
    readonly connect: () => Promise<Connection>,
  ) {}

  verified(): Promise<void> | null {
    return this.kept.verified(this.isTls, this.host);
  }

  take(): Connection | null {
    return this.kept.take(this.isTls, this.host, null);
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#onCancel?.();
    this.#connection?.cancel();
  }

  /**
   * Resolves with a new connection, or fails at once if the request is cancelled. A connection that opens later is
   * closed.
   */
  open(): Promise<Connection> {
    const opening = this.connect();
    return new Promise((resolve, reject) => {
      this.#onCancel = () => reject(cancelled());
      opening.then((connection) => {
        if (this.#isCancelled) connection.close();
        resolve(connection);
      }, reject);
    });
  }

  /** Throws if the request is cancelled already. */
  onConnection(connection: Connection): void {
    this.#connection = connection;
    if (!this.#isCancelled) return;
    connection.close();
    throw cancelled();
  }

  /** Ends the request, so that cancelling it has no effect any more. */
  finish(): void {
    this.#connection = null;
  }
}

/** Converts a request to an http origin to the form for a proxy (RFC 9112, 3.2.2). */
function throughProxy(request: WireRequest, host: string, proxy: Proxy): WireRequest {
  return {
    ...request,
    path: `http://${host}${request.path}`,
    headerLines: proxyAuthorizationLine(proxy) + request.headerLines,
  };
}

/** A 407 comes from the proxy; the vendor has not received the request. */
function refuseProxyAnswer({ connection, head }: Exchanged): void {
  if (head.status !== 407) return;
  connection.close();
  throw new ConnectionError("The proxy refused the connection with status 407", "connect", "unsent");
}

function cancelled(): ConnectionError {
  return new ConnectionError("Request cancelled", "cancelled", "unsent");
}

/**
 * Completes the TLS handshake. Otherwise it happens during the first write, and a rejected certificate would look like
 * an interrupted request.
 */
async function shakeHands(socket: Deno.Conn): Promise<void> {
  if ("handshake" in socket) await (socket as Deno.TlsConn).handshake();
}

function closeQuietly(socket: Deno.Conn | null): void {
  try {
    socket?.close();
  } catch {
    // A failed handshake has closed it.
  }
}
