import { type Clock, systemClock } from "../lib/clock.ts";
import { type DeadlineWheel, type Watched, wheelOf } from "./deadline.ts";
import { EgressError } from "./egress_error.ts";
import { connectGuarded } from "./guarded_connect.ts";
import type { Connection } from "./http1/connection.ts";
import { headerLinesOf } from "./http1/header_lines.ts";
import { type Exchanged, exchangeOver } from "./http1/resend.ts";
import type { WireRequest } from "./http1/wire_request.ts";
import { type KeepLimits, KeptConnections } from "./kept_connections.ts";
import { createPinnedDialer, type Opening, type PinnedDialer } from "./pinned_socket.ts";
import { type EgressPolicy, type Schemes, vetTarget, type VettedTarget } from "./target.ts";

/** A small POST to an https address that a caller named. Times are kept to a tenth of a second. */
export interface PinnedPost {
  /** Names and values without control characters; `host` and the length are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Longest time from the first look-up to the last byte of the answer's head. */
  readonly timeoutMs: number;
  /** Longest wait for a connection to one address, TLS included. Default 5 s. */
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

/**
 * Sends POSTs under the egress guard, over connections that are kept for some seconds where that is safe.
 *
 * Each POST judges its address and all that its name resolves to, as if it were the first. Its connection leads to one
 * of the addresses judged just now and to nothing else: a kept one serves only if it was made to one of them, for the
 * same host and port. So a name that moves is not reached where it was, and one that comes to a forbidden address is
 * not reached at all. The certificate is checked against the name when the connection is made. No redirect is followed
 * and no proxy of the environment applies.
 *
 * Nearly all that a POST costs is its TLS handshake; what webhooks can carry hangs on the connections that are kept.
 */
export interface PinnedPoster {
  /**
   * Sends one POST.
   *
   * @param address Whatever was named.
   * @throws {EgressError} Never `redirect` or `too_large`.
   */
  post(address: unknown, request: PinnedPost): Promise<PostAnswer>;
  /** Closes what is idle. A POST under way goes on; its connection is closed after it. */
  close(): void;
}

/** A poster with connections of its own. */
export function createPinnedPoster(policy: EgressPolicy, limits?: KeepLimits): PinnedPoster {
  const clock = policy.clock ?? systemClock;
  const kept = new KeptConnections(clock, limits);
  const dialer = createPinnedDialer(policy.caCertificates ?? []);
  const parts = { policy, clock, wheel: wheelOf(clock), kept, dialer };
  return {
    post: (address, request) => new Exchange(request, parts).run(address),
    close: () => kept.close(),
  };
}

const CONNECT_MS = 5_000;
const BODY_MS = 1_000;
const SCHEMES: Schemes = ["https:"];
const ONCE = { once: true };
const ABORTED = "it was given up";

interface PosterParts {
  readonly policy: EgressPolicy;
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly kept: KeptConnections;
  readonly dialer: PinnedDialer;
}

/**
 * One POST, and everything that has to be let go of when its time is over. One deadline serves all steps: it is drawn
 * nearer while the body is dropped. What waits is ended by closing what it waits for.
 */
class Exchange implements Watched {
  deadlineAt: number;
  readonly #endsAt: number;
  readonly #post: PinnedPost;
  readonly #parts: PosterParts;
  readonly #outcome = Promise.withResolvers<PostAnswer>();
  readonly #abort = () => this.#fail(new EgressError("aborted", ABORTED));
  #opening: Opening | null = null;
  #connection: Connection | null = null;
  #isAnswered = false;
  #failure: EgressError | null = null;

  constructor(post: PinnedPost, parts: PosterParts) {
    this.#post = post;
    this.#parts = parts;
    this.deadlineAt = this.#endsAt = parts.wheel.now() + post.timeoutMs;
  }

  run(address: unknown): Promise<PostAnswer> {
    const { signal } = this.#post;
    if (signal?.aborted) return Promise.reject(new EgressError("aborted", ABORTED));
    signal?.addEventListener("abort", this.#abort, ONCE);
    this.#parts.wheel.watch(this);
    const { promise, resolve, reject } = this.#outcome;
    this.#work(address).then(resolve, reject); // changes nothing where the time was over before
    return promise;
  }

  onDeadline(): void {
    this.#fail(new EgressError("timeout", "it took too long"));
  }

  #fail(failure: EgressError): void {
    this.#failure ??= failure;
    if (!this.#isAnswered) this.#outcome.reject(failure);
    this.#opening?.giveUp(failure);
    this.#connection?.cancel();
    this.#end();
  }

  #end(): void {
    this.#parts.wheel.unwatch(this);
    this.#post.signal?.removeEventListener("abort", this.#abort);
    this.#connection?.close();
    this.#connection = null;
  }

  async #work(address: unknown): Promise<PostAnswer> {
    try {
      const target = await vetTarget(address, SCHEMES, this.#parts.policy);
      if (this.#failure) throw this.#failure;
      const response = await this.#ask(target);
      const { status } = response.head;
      const bytes = await this.#drop(response);
      return { status, header: (name) => response.head.get(name), bytes };
    } finally {
      this.#end();
    }
  }

  async #ask(target: VettedTarget): Promise<Exchanged> {
    const { url, addresses } = target;
    const { kept, clock } = this.#parts;
    const request: WireRequest = {
      method: "POST",
      path: url.pathname + url.search,
      headerLines: headerLinesOf(this.#post.headers),
      body: this.#post.body,
      isRepeatable: true, // the same bytes under the same idempotency key, as at the next attempt
    };
    try {
      return await exchangeOver(
        {
          take: () => kept.takeQuiet(true, url.host, addresses),
          open: () => this.#connect(target),
          onConnection: (connection) => this.#use(connection),
        },
        request,
        clock,
      );
    } catch (error) {
      throw this.#failure ?? (error instanceof EgressError ? error : brokenBy(error));
    }
  }

  #use(connection: Connection): void {
    this.#connection = connection;
    if (this.#failure === null) return;
    this.#end();
    throw this.#failure;
  }

  #connect(target: VettedTarget): Promise<Connection> {
    const { dialer, clock } = this.#parts;
    return connectGuarded(target, {
      dialer,
      clock,
      connectMs: this.#post.connectMs ?? CONNECT_MS,
      onOpening: (opening) => {
        this.#opening = opening;
        if (this.#failure !== null) opening?.giveUp(this.#failure);
      },
    });
  }

  #drawNearer(limitMs: number): void {
    this.deadlineAt = Math.min(this.#parts.wheel.now() + limitMs, this.#endsAt);
  }

  /** Takes the body up to the cap, for as long as is polite. The answer stands already, so nothing here can fail it. */
  async #drop({ connection, head, decoder, early }: Exchanged): Promise<number> {
    if (this.#connection === null) return early.length; // the time was over in the same instant
    this.#isAnswered = true;
    const { capBytes, bodyMs = BODY_MS } = this.#post;
    let total = early.length;
    try {
      if (total > 0) decoder.decode(early);
      if (!decoder.done) this.#drawNearer(bodyMs);
      while (!decoder.done && total < capBytes) {
        const wire = await connection.read();
        if (wire === null) break;
        total += wire.length;
        decoder.decode(wire);
      }
      const isReusable = decoder.done && !decoder.hasExcess && total <= capBytes && head.keepsAlive;
      if (isReusable) this.#keep(connection, head.keepAliveMs);
    } catch { /* a body that breaks off or lies about its length is of no interest */ }
    return total;
  }

  #keep(connection: Connection, serverIdleMs: number | null): void {
    if (this.#connection === null) return;
    this.#connection = null; // from here on it is others': an end that comes late must not close it
    this.#parts.kept.keep(connection, serverIdleMs);
  }
}

function brokenBy(error: unknown): EgressError {
  return new EgressError("broken", "the connection broke before its answer", { cause: error });
}
