import { systemClock } from "../lib/clock.ts";
import { EgressError, refusal } from "./egress_error.ts";
import { Connection } from "./http1/connection.ts";
import { type EgressPolicy, hostOf, portOf, vetTarget, type VettedTarget } from "./target.ts";

/** A small POST to an https address that a caller named. */
export interface PinnedPost {
  /** Names and values without control characters; `host`, `connection` and the length are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Longest time from the first look-up to the last byte of the answer's head. */
  readonly timeoutMs: number;
  /** Longest wait for a connection, TLS included. Default 5 s. */
  readonly connectMs?: number;
  /** How much of the answer's body is taken before the connection is dropped. */
  readonly capBytes: number;
  /** How long the answer's body is waited for. Default 1 s. */
  readonly bodyMs?: number;
  readonly signal?: AbortSignal;
}

/** What was answered. The body is dropped as it comes. */
export interface PostAnswer {
  readonly status: number;
  /** By lower-case name; null when there is none. */
  header(name: string): string | null;
  /** Bytes of the body that were taken, framing included; at most a read beyond the cap. */
  readonly bytes: number;
}

const CONNECT_MS = 5_000;
const BODY_MS = 1_000;
/** How many addresses of a name are tried. */
const MOST_ADDRESSES = 3;

/**
 * Sends a POST under the egress guard, on a connection of its own: the address and all that its name resolves to are
 * judged, the connection goes to one of the judged addresses and to nothing else, the certificate is checked against the
 * name. No redirect is followed and no proxy of the environment applies.
 *
 * The built-in https client would do the same, at 4 ms of processor time for each handshake and at 40 ms with roots of the
 * operator's own, which it reads anew each time; the plain sockets used here need 0.7 ms. What webhooks can carry hangs on it.
 *
 * @param address Whatever was named.
 * @throws {EgressError} Never `redirect` or `too_large`.
 */
export async function pinnedPost(address: unknown, post: PinnedPost, policy: EgressPolicy): Promise<PostAnswer> {
  const exchange = new Exchange(post, policy);
  try {
    return await exchange.run(address);
  } finally {
    exchange.end();
  }
}

/** One POST: everything that has to be let go of when its time is over. */
class Exchange {
  readonly #post: PinnedPost;
  readonly #policy: EgressPolicy;
  readonly #over = Promise.withResolvers<never>();
  readonly #stopTimer: () => void;
  readonly #abort = () => this.#fail(new EgressError("aborted", "it was given up"));
  #socket: Deno.Conn | null = null;
  #isOver = false;

  constructor(post: PinnedPost, policy: EgressPolicy) {
    this.#post = post;
    this.#policy = policy;
    this.#over.promise.catch(() => {}); // only of interest while something races with it
    const { clock = systemClock } = policy;
    this.#stopTimer = clock.after(
      post.timeoutMs,
      () => this.#fail(new EgressError("timeout", "it took too long")),
    );
    post.signal?.addEventListener("abort", this.#abort, { once: true });
    if (post.signal?.aborted) this.#abort();
  }

  async run(address: unknown): Promise<PostAnswer> {
    const target = await this.#unlessOver(vetTarget(address, ["https:"], this.#policy));
    const { url } = target;
    const socket = await this.#connectToAny(target);
    const origin = { tls: true, hostname: hostOf(url), port: portOf(url) };
    const connection = new Connection(origin, url.host, socket);
    const { head, decoder, early } = await this.#unlessOver(connection.exchange({
      method: "POST",
      path: url.pathname + url.search,
      headerLines: headerLinesOf(this.#post.headers),
      body: this.#post.body,
    })).catch((error) => {
      throw error instanceof EgressError
        ? error
        : new EgressError("broken", "the connection broke before its answer", { cause: error });
    });
    const bytes = await this.#drop(connection, decoder, early);
    return { status: head.status, header: (name) => head.get(name), bytes };
  }

  end(): void {
    this.#isOver = true;
    this.#stopTimer();
    this.#post.signal?.removeEventListener("abort", this.#abort);
    closeQuietly(this.#socket);
  }

  #fail(failure: EgressError): void {
    this.#isOver = true;
    this.#over.reject(failure);
    closeQuietly(this.#socket);
  }

  #unlessOver<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#over.promise]);
  }

  /** Tries the addresses in turn; only while nothing was sent. */
  async #connectToAny({ url, addresses }: VettedTarget): Promise<Deno.Conn> {
    let failure: unknown;
    for (const address of addresses.slice(0, MOST_ADDRESSES)) {
      try {
        return await this.#unlessOver(this.#connect(url, address));
      } catch (error) {
        failure = error;
        if (!(error instanceof EgressError) || error.kind !== "connect") break;
      }
    }
    throw failure;
  }

  #connect(url: URL, address: string): Promise<Deno.Conn> {
    const { clock = systemClock } = this.#policy;
    const { promise, resolve, reject } = Promise.withResolvers<Deno.Conn>();
    let isLate = false;
    let socket: Deno.Conn | null = null;
    const stop = clock.after(this.#post.connectMs ?? CONNECT_MS, () => {
      isLate = true;
      closeQuietly(socket);
      reject(new EgressError("connect", "no connection was made in time"));
    });
    const keep = (opened: Deno.Conn) => {
      socket = this.#socket = opened;
      if (isLate || this.#isOver) closeQuietly(opened);
      return opened;
    };
    Deno.connect({ hostname: address, port: portOf(url) })
      .then((plain) => {
        keep(plain);
        plain.setNoDelay(true);
        return this.#secure(plain, hostOf(url));
      })
      .then((secure) => resolve(keep(secure)))
      .catch((error) => {
        closeQuietly(socket);
        reject(connectFailureOf(error));
      })
      .finally(stop);
    return promise;
  }

  async #secure(plain: Deno.TcpConn, hostname: string): Promise<Deno.TlsConn> {
    const caCerts = [...this.#policy.caCertificates ?? []];
    const secure = await Deno.startTls(plain, { hostname, caCerts, alpnProtocols: ["http/1.1"] });
    this.#socket = secure; // so that the end of the time also ends a handshake that hangs
    if (this.#isOver) closeQuietly(secure);
    await secure.handshake();
    return secure;
  }

  /** Takes the body up to the cap, for as long as is polite. The answer stands already, so nothing here can fail it. */
  async #drop(
    connection: Connection,
    decoder: { readonly done: boolean; decode(wire: Uint8Array): Uint8Array },
    early: Uint8Array,
  ): Promise<number> {
    const { clock = systemClock } = this.#policy;
    const { promise: patience, resolve } = Promise.withResolvers<null>();
    const stop = clock.after(this.#post.bodyMs ?? BODY_MS, () => resolve(null));
    let total = early.length;
    try {
      if (early.length > 0) decoder.decode(early);
      while (!decoder.done && total < this.#post.capBytes) {
        const wire = await Promise.race([connection.read(), patience]);
        if (wire === null) break;
        total += wire.length;
        decoder.decode(wire);
      }
    } catch { /* a body that breaks off or lies about its length is of no interest */ }
    stop();
    return total;
  }
}

function headerLinesOf(headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `${lines}connection: close\r\n`;
}

function connectFailureOf(error: unknown): EgressError {
  if (error instanceof EgressError) return error;
  if (error instanceof Deno.errors.NotCapable) {
    return refusal("private_address", "expected a host that may be reached");
  }
  if (error instanceof Deno.errors.InvalidData) {
    return new EgressError("tls", "its certificate or its TLS was not accepted", { cause: error });
  }
  return new EgressError("connect", "no connection could be made", { cause: error });
}

function closeQuietly(socket: Deno.Conn | null): void {
  try {
    socket?.close();
  } catch {
    // Closed already.
  }
}
