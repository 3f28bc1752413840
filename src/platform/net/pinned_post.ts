import { type Clock, systemClock } from "../lib/basics/clock.ts";
import { concatBytes } from "../lib/bytes/concat_bytes.ts";
import { NO_SLOT } from "../lib/collections/slot_set.ts";
import { TurnPace } from "../lib/streams/turn_pace.ts";
import { type DeadlineWheel, type Watched, wheelOf } from "./deadline.ts";
import { EgressError } from "./egress_error.ts";
import { connectGuarded } from "./guarded_connect.ts";
import type { Connection } from "./http1/connection.ts";
import { isOwnMistake } from "./http1/connection_error.ts";
import { headerLinesOf } from "./http1/header_lines.ts";
import { type Exchanged, exchangeOver } from "./http1/resend.ts";
import type { WireRequest } from "./http1/wire_request.ts";
import { IdleConnections, type IdleLimits } from "./idle_connections.ts";
import { createPinnedDialer, type Opening, type PinnedDialer } from "./pinned_socket.ts";
import { type EgressPolicy, type Schemes, vetTarget, type VettedTarget } from "./target.ts";

/** A small POST to an https address given by a caller. Timeouts have a resolution of 100 ms. */
export interface PinnedPost {
  /** Names and values without control characters; `host` and the length are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The time limit from the name lookup to the end of the response head. */
  readonly timeoutMs: number;
  /** The time limit for a connection to one address, including TLS. Default 5 s. */
  readonly connectMs?: number;
  /** The maximum size of the response body; the connection is closed beyond it. */
  readonly capBytes: number;
  /** The most bytes of the body of a response with a status that are kept. Default: 0 of all. */
  readonly keptBytes?: (status: number) => number;
  /** The time limit for the response body. Default 1 s. */
  readonly bodyMs?: number;
  readonly signal?: AbortSignal;
}

/** The response. Its body is discarded, except for its start. */
export interface PostResponse {
  readonly status: number;
  /** The field by its lower-case name; null if missing. */
  header(name: string): string | null;
  /** The first bytes of the body, as far as they are kept; absent if none were to be kept. */
  readonly start?: Uint8Array;
  /** The number of body bytes read, including framing; up to one read above the maximum. */
  readonly bytes: number;
}

/**
 * Sends POSTs under the egress rules, over idle connections where that is safe.
 *
 * Each POST checks its address and everything that its name resolves to. An idle connection is used only if it was made
 * to one of the addresses checked now, for the same host and port. A name that moves is therefore not contacted at its
 * old address, and a name that resolves to a forbidden address is not contacted at all. The certificate is verified
 * when the connection is made. Redirects are not followed and no proxy of the environment applies.
 *
 * The TLS handshake dominates the cost of a POST, so the throughput of webhooks depends on the reuse of connections.
 */
export interface PinnedPoster {
  /**
   * Sends one POST.
   *
   * @param address The address as given.
   * @throws {EgressError} Never `redirect` or `too_large`.
   */
  post(address: unknown, request: PinnedPost): Promise<PostResponse>;
  /** Closes idle connections. A running POST completes; its connection is closed afterwards. */
  close(): void;
}

/** Creates a poster with its own connections. */
export function createPinnedPoster(policy: EgressPolicy, limits?: IdleLimits): PinnedPoster {
  const clock = policy.clock ?? systemClock;
  const kept = new IdleConnections(clock, limits);
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
const ABORTED = "the connection was cancelled";

interface PosterParts {
  readonly policy: EgressPolicy;
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly kept: IdleConnections;
  readonly dialer: PinnedDialer;
}

/**
 * One POST and the resources to release at its time limit. One deadline covers all steps and is shortened while the
 * body is discarded. A pending step ends when its resource is closed.
 */
class Exchange implements Watched {
  deadlineAt: number;
  slot = NO_SLOT;
  readonly #endsAt: number;
  readonly #post: PinnedPost;
  readonly #parts: PosterParts;
  readonly #outcome = Promise.withResolvers<PostResponse>();
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

  run(address: unknown): Promise<PostResponse> {
    const { signal } = this.#post;
    if (signal?.aborted) return Promise.reject(new EgressError("aborted", ABORTED));
    signal?.addEventListener("abort", this.#abort, ONCE);
    this.#parts.wheel.watch(this);
    const { promise, resolve, reject } = this.#outcome;
    this.#work(address).then(resolve, reject); // no effect if the time limit was reached before
    return promise;
  }

  onDeadline(): void {
    this.#fail(new EgressError("timeout", "the request timed out"));
  }

  #fail(failure: EgressError): void {
    this.#failure ??= failure;
    if (!this.#isAnswered) this.#outcome.reject(failure);
    this.#opening?.cancel(failure);
    this.#connection?.cancel();
    this.#end();
  }

  #end(): void {
    this.#parts.wheel.unwatch(this);
    this.#post.signal?.removeEventListener("abort", this.#abort);
    this.#connection?.close();
    this.#connection = null;
  }

  async #work(address: unknown): Promise<PostResponse> {
    try {
      const target = await vetTarget(address, SCHEMES, this.#parts.policy);
      if (this.#failure) throw this.#failure;
      const response = await this.#ask(target);
      const { status } = response.head;
      const keptBytes = this.#post.keptBytes?.(status) ?? 0;
      const start = keptBytes > 0 ? new BodyStart(keptBytes) : null;
      const bytes = await this.#drop(response, start);
      return { status, header: (name) => response.head.get(name), bytes, ...start !== null && { start: start.bytes } };
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
      isRepeatable: true, // the same bytes and idempotency key as in the next attempt
    };
    try {
      return await exchangeOver(
        {
          verified: () => kept.verified(true, url.host),
          take: () => kept.take(true, url.host, addresses),
          open: () => this.#connect(target),
          onConnection: (connection) => this.#use(connection),
        },
        request,
        clock,
        (exchanged) => exchanged,
      );
    } catch (error) {
      throw this.#failure ?? (error instanceof EgressError || isOwnMistake(error) ? error : brokenBy(error));
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
        if (this.#failure !== null) opening?.cancel(this.#failure);
      },
    });
  }

  #drawNearer(limitMs: number): void {
    this.deadlineAt = Math.min(this.#parts.wheel.now() + limitMs, this.#endsAt);
  }

  /** Discards the body up to the limits. The response is complete already, so a failure here has no effect. */
  async #drop({ connection, head, decoder, early }: Exchanged, start: BodyStart | null): Promise<number> {
    if (this.#connection === null) return early.length; // the time limit was reached in the same instant
    this.#isAnswered = true;
    const { capBytes, bodyMs = BODY_MS } = this.#post;
    let total = early.length;
    try {
      if (total > 0) {
        const body = decoder.decode(early);
        start?.add(body);
      }
      if (!decoder.done) this.#drawNearer(bodyMs);
      const pace = new TurnPace();
      while (!decoder.done && total < capBytes) {
        const turn = pace.note();
        if (turn !== null) await turn;
        const wire = await connection.read();
        if (wire === null) break;
        total += wire.length;
        const body = decoder.decode(wire);
        start?.add(body);
      }
      const isReusable = decoder.done && !decoder.hasExcess && total <= capBytes && head.keepsAlive;
      if (isReusable) this.#keep(connection, head.keepAliveMs);
    } catch { /* an incomplete body or a wrong length does not matter */ }
    return total;
  }

  #keep(connection: Connection, serverIdleMs: number | null): void {
    if (this.#connection === null) return;
    this.#connection = null; // the connection may now serve others: a late timeout must not close it
    this.#parts.kept.release(connection, serverIdleMs);
  }
}

/** The first bytes of a body, copied, since buffers are used again. */
class BodyStart {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(readonly maxBytes: number) {}

  add(body: Uint8Array<ArrayBuffer>): void {
    const room = this.maxBytes - this.bytes.length;
    if (room > 0 && body.length > 0) this.bytes = concatBytes([this.bytes, body.subarray(0, room)]);
  }
}

function brokenBy(error: unknown): EgressError {
  return new EgressError("broken", "the connection closed before the response", { cause: error });
}
