import type { Clock } from "../../lib/clock.ts";
import type { BodyDecoder } from "./body_decoder.ts";
import { Connection, ConnectionError, type Origin, type WireRequest } from "./connection.ts";
import type { ResponseHead } from "./response_head.ts";

/**
 * HTTP/1.1 toward vendors, over sockets that stay open. The built-in `fetch` hands on each chunk of a stream by itself
 * and needs an own abort controller per request; reading the socket directly joins what arrived together, costs half
 * the time per paced chunk and a tenth per burst, and a request is cancelled by closing its socket. `bench/RESULTS.md`
 * has the figures.
 */
export interface HttpClient {
  /**
   * Sends one request and resolves with the head of its response.
   *
   * @param onOpen Called with the way to cancel, before anything is sent; cancelling makes the pending call fail.
   * @throws {ConnectionError}
   */
  send(origin: Origin, request: WireRequest, onOpen?: (cancel: () => void) => void): Promise<HttpResponse>;
  /** Closes idle sockets; those in use end with their response. */
  close(): void;
}

/** A response whose body is read off the wire as it is asked for. */
export interface HttpResponse {
  /** The status code, never below 200: informational responses are passed over. */
  readonly status: number;
  /** Its header fields. */
  readonly head: ResponseHead;
  /**
   * What arrived since the last call, at least one byte and never shared with a later call; null at the end.
   *
   * @throws {ConnectionError} `closed` when the body was cut, `cancelled` after {@linkcode HttpResponse.cancel}.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Ends the exchange: the socket is closed unless the body was read to its end. Never throws; may be called twice. */
  cancel(): void;
}

/** Settings of a client; times in milliseconds. */
export interface HttpClientOptions {
  /** Measures timeouts and how long a connection was unused. */
  readonly clock: Clock;
  /** Until a connection stands, TLS included. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** How long an unused connection is kept. Default 30,000, below the idle limit of common front ends. */
  readonly idleMs?: number;
  /** Most unused connections kept for one origin. Default 256. */
  readonly idlePerOrigin?: number;
  /** Extra trusted roots, PEM. */
  readonly caCerts?: readonly string[];
}

/** Opens a client. See {@linkcode HttpClient}. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new PooledClient(options);
}

const STALE_SHOWS_WITHIN_MS = 2_000;

interface Idle {
  readonly connection: Connection;
  readonly since: number;
}

class PooledClient implements HttpClient {
  readonly #idle = new Map<string, Idle[]>();
  readonly #options: HttpClientOptions;
  #closed = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  async send(origin: Origin, request: WireRequest, onOpen?: (cancel: () => void) => void): Promise<HttpResponse> {
    let cancelled = false;
    let current: Connection | null = null;
    onOpen?.(() => {
      cancelled = true;
      current?.cancel();
    });
    for (;;) {
      const kept = request.freshConnection ? null : this.#takeIdle(origin);
      const connection = kept ?? await this.#connect(origin);
      current = connection;
      if (cancelled) {
        connection.close();
        throw new ConnectionError("Request cancelled", "cancelled", false);
      }
      const wasUsed = connection.used;
      const sentAt = this.#options.clock.now();
      try {
        const { head, decoder, early } = await connection.exchange(request);
        return new PooledResponse(connection, head, decoder, early, () => {
          // From here on the connection may carry somebody else's exchange: a late cancel must not reach it.
          current = null;
          this.#giveBack(connection);
        });
      } catch (error) {
        connection.close();
        // The server had closed a kept connection before our request reached it: nothing was seen of an answer, so
        // the request goes out once more on a fresh one. That shows within a round trip; later the server has worked.
        const stale = wasUsed && error instanceof ConnectionError && error.kind === "closed" && !error.answered &&
          this.#options.clock.now() - sentAt <= STALE_SHOWS_WITHIN_MS;
        if (!stale) throw error;
        this.#dropIdle(origin);
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const list of this.#idle.values()) for (const { connection } of list) connection.close();
    this.#idle.clear();
  }

  #takeIdle(origin: Origin): Connection | null {
    const list = this.#idle.get(poolKeyOf(origin));
    const oldest = this.#options.clock.now() - (this.#options.idleMs ?? 30_000);
    for (let idle = list?.pop(); idle; idle = list?.pop()) {
      if (idle.since >= oldest) return idle.connection;
      idle.connection.close();
    }
    return null;
  }

  #giveBack(connection: Connection): void {
    const key = poolKeyOf(connection.origin);
    const list = this.#idle.get(key) ?? [];
    if (this.#closed || connection.uploading || list.length >= (this.#options.idlePerOrigin ?? 256)) {
      return connection.close();
    }
    list.push({ connection, since: this.#options.clock.now() });
    this.#idle.set(key, list);
  }

  #dropIdle(origin: Origin): void {
    for (const { connection } of this.#idle.get(poolKeyOf(origin)) ?? []) connection.close();
    this.#idle.delete(poolKeyOf(origin));
  }

  async #connect(origin: Origin): Promise<Connection> {
    const { clock, connectTimeoutMs = 10_000, caCerts } = this.#options;
    let late = false;
    const opening = open(origin, caCerts).then((socket) => {
      if (late) socket.close();
      return socket;
    });
    const timeout = new Promise<never>((_, reject) => {
      const stop = clock.after(connectTimeoutMs, () => {
        late = true;
        reject(new ConnectionError("Cannot connect: no answer in time", "connect", false));
      });
      opening.then(stop, stop);
    });
    try {
      const socket = await Promise.race([opening, timeout]);
      return new Connection(origin, hostFieldOf(origin), socket);
    } catch (error) {
      if (error instanceof ConnectionError) throw error;
      throw new ConnectionError("Cannot connect", "connect", false, error);
    }
  }
}

async function open(origin: Origin, caCerts: readonly string[] = []): Promise<Deno.Conn> {
  const { hostname, port } = origin;
  const socket = await Deno.connect({ hostname, port });
  socket.setNoDelay(true);
  if (!origin.tls) return socket;
  return await Deno.startTls(socket, { hostname, caCerts: [...caCerts], alpnProtocols: ["http/1.1"] });
}

class PooledResponse implements HttpResponse {
  readonly status: number;
  #early: Uint8Array | null;
  #finished = false;

  constructor(
    readonly connection: Connection,
    readonly head: ResponseHead,
    readonly decoder: BodyDecoder,
    early: Uint8Array,
    readonly giveBack: () => void,
  ) {
    this.status = head.status;
    this.#early = early.length > 0 ? early : null;
    if (this.#early === null && decoder.done) this.#finish();
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    for (;;) {
      if (this.#finished) return null;
      const wire = this.#early ?? await this.connection.read();
      this.#early = null;
      if (wire === null) return this.#endOfInput();
      const payload = this.#decode(wire).slice();
      if (this.decoder.done) this.#finish();
      if (payload.length > 0) return payload;
    }
  }

  cancel(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.connection.cancel();
  }

  #decode(wire: Uint8Array): Uint8Array {
    try {
      return this.decoder.decode(wire);
    } catch (error) {
      this.cancel();
      throw new ConnectionError("Cannot read the response", "protocol", true, error);
    }
  }

  #endOfInput(): null {
    this.#finished = true;
    this.connection.close();
    if (this.decoder.endsByClose) return null;
    throw new ConnectionError("Connection closed before the end of the response", "closed", true);
  }

  #finish(): void {
    this.#finished = true;
    if (this.head.keepsAlive) this.giveBack();
    else this.connection.close();
  }
}

/**
 * The whole body of a response.
 *
 * @param capBytes Most bytes that are taken.
 * @throws {ConnectionError} As {@linkcode HttpResponse.read}, and `protocol` beyond the cap.
 */
export async function readAll(response: HttpResponse, capBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let total = 0;
  for (let next = await response.read(); next !== null; next = await response.read()) {
    parts.push(next);
    total += next.length;
    if (total > capBytes) {
      response.cancel();
      throw new ConnectionError("Cannot read the response: its body is too long", "protocol", true);
    }
  }
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The origin that an http or https address names. */
export function originOf(url: URL): Origin {
  const tls = url.protocol === "https:";
  return { tls, hostname: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || (tls ? 443 : 80)) };
}

function poolKeyOf(origin: Origin): string {
  return `${origin.tls ? "https" : "http"}://${origin.hostname}:${origin.port}`;
}

function hostFieldOf(origin: Origin): string {
  const name = origin.hostname.includes(":") ? `[${origin.hostname}]` : origin.hostname;
  return origin.port === (origin.tls ? 443 : 80) ? name : `${name}:${origin.port}`;
}
