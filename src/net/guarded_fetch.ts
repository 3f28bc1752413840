import { type Clock, systemClock } from "../lib/clock.ts";
import { EgressError } from "./egress_error.ts";
import { connectGuarded } from "./guarded_connect.ts";
import type { Connection } from "./http1/connection.ts";
import { headerLinesOf } from "./http1/header_lines.ts";
import { type HttpResponse, responseOf } from "./http1/response.ts";
import { createPinnedDialer, type Opening, type PinnedDialer } from "./pinned_socket.ts";
import { type EgressPolicy, type Schemes, vetTarget, type VettedTarget } from "./target.ts";

/** One request to an address that a caller or a vendor named. */
export interface GuardedRequest {
  readonly method: "GET" | "POST";
  /** Names in lower case. Dropped, all but `accept` and `range`, when a redirect leads to another host. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly schemes: Schemes;
  /** How many redirects are followed; each leads to a GET and is judged like the first address. Default 0. */
  readonly redirects?: number;
  /** The longest body that is given out; one more byte is `too_large`. */
  readonly capBytes: number;
  /** Longest wait for a connection, TLS included. Default 5 s. */
  readonly connectMs?: number;
  /** Longest time for everything, the body included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** The head of an answer, and its body while it comes. */
export interface GuardedResponse {
  readonly status: number;
  /** The address that answered, after redirects. */
  readonly url: URL;
  /** By lower-case name; equal names joined with a comma; null when there is none. */
  header(name: string): string | null;
  /**
   * The body, once. Leaving it early closes the connection.
   *
   * @throws {EgressError} While it is read: `too_large`, `timeout`, `broken`, `aborted`.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection; for answers whose body is not wanted. */
  discard(): void;
}

const DEFAULT_CONNECT_MS = 5_000;

/** One for each policy: reading roots costs milliseconds. */
const dialers = new WeakMap<EgressPolicy, PinnedDialer>();

/**
 * Sends a request under the egress guard: the address and everything that its name resolves to are judged, the
 * connection goes to one of the judged addresses and to nothing else, the certificate is checked against the name, and
 * all of it again at every redirect. Each request has a connection of its own, no proxy of the environment applies, and
 * codings are declined, so that bytes counted are bytes held.
 *
 * @param address Whatever was named.
 * @throws {EgressError}
 */
export async function guardedFetch(
  address: unknown,
  request: GuardedRequest,
  policy: EgressPolicy,
): Promise<GuardedResponse> {
  const watch = new Watch(request, policy.clock ?? systemClock);
  try {
    let target = await watch.unlessOver(vetTarget(address, request.schemes, policy));
    let sent = request;
    for (let redirects = request.redirects ?? 0;; redirects--) {
      const response = await ask(target, sent, dialerOf(policy), watch);
      const location = redirectOf(response);
      if (location === null || request.redirects === undefined) {
        return guardedResponseOf(response, target.url, request, watch);
      }
      response.cancel();
      if (redirects === 0) throw new EgressError("redirect", "it leads on too many times");
      const next = nextOf(location, target.url);
      sent = afterRedirect(sent, target.url, next);
      target = await watch.unlessOver(vetTarget(next.href, request.schemes, policy));
    }
  } catch (error) {
    watch.stop();
    throw error instanceof EgressError ? error : watch.failureOf(error);
  }
}

function dialerOf(policy: EgressPolicy): PinnedDialer {
  let dialer = dialers.get(policy);
  if (!dialer) dialers.set(policy, dialer = createPinnedDialer(policy.caCertificates ?? []));
  return dialer;
}

async function ask(
  target: VettedTarget,
  request: GuardedRequest,
  dialer: PinnedDialer,
  watch: Watch,
): Promise<HttpResponse> {
  const { clock } = watch;
  const connectMs = request.connectMs ?? DEFAULT_CONNECT_MS;
  const onOpening = (opening: Opening | null) => watch.setOpening(opening);
  const connection = await connectGuarded(target, { dialer, clock, connectMs, onOpening });
  watch.setConnection(connection);
  const { method, headers, body = null } = request;
  const { pathname, search } = target.url;
  const headerLines = headerLinesOf({ ...headers, "accept-encoding": "identity", connection: "close" });
  const received = await connection.exchange({ method, path: pathname + search, headerLines, body });
  // None is kept: what callers name is seldom asked for twice.
  return responseOf({ connection, ...received }, () => connection.close());
}

function redirectOf({ status, head }: HttpResponse): string | null {
  return [301, 302, 303, 307, 308].includes(status) ? head.get("location") : null;
}

function nextOf(location: string, from: URL): URL {
  if (!URL.canParse(location, from)) throw new EgressError("redirect", "it leads to no address");
  const next = new URL(location, from);
  if (from.protocol === "https:" && next.protocol !== "https:") {
    throw new EgressError("redirect", "it leads from https to another scheme");
  }
  return next;
}

function afterRedirect(request: GuardedRequest, from: URL, to: URL): GuardedRequest {
  const { accept, range } = request.headers ?? {};
  const kept = { ...(accept === undefined ? {} : { accept }), ...(range === undefined ? {} : { range }) };
  const headers = from.host === to.host ? request.headers : kept;
  return { ...request, method: "GET", body: undefined, headers };
}

function guardedResponseOf(
  response: HttpResponse,
  url: URL,
  { capBytes }: GuardedRequest,
  watch: Watch,
): GuardedResponse {
  const { status, head } = response;
  const header = (name: string) => head.all(name).join(", ") || null;
  const discard = () => {
    watch.stop();
    response.cancel();
  };
  const coding = header("content-encoding");
  if (coding !== null && coding !== "identity") {
    discard();
    throw new EgressError("broken", "the answer came in a coding that was not asked for");
  }
  return { status, url, header, body: cappedBody(response, capBytes, watch), discard };
}

async function* cappedBody(response: HttpResponse, capBytes: number, watch: Watch): AsyncGenerator<Uint8Array> {
  try {
    if (Number(response.head.get("content-length") ?? 0) > capBytes) throw tooLarge(capBytes);
    let total = 0;
    for (let bytes = await response.read(); bytes !== null; bytes = await response.read()) {
      total += bytes.length;
      if (total > capBytes) throw tooLarge(capBytes);
      yield bytes;
    }
    watch.throwIfOver();
  } catch (error) {
    throw watch.failureOf(error);
  } finally {
    watch.stop();
    response.cancel();
  }
}

function tooLarge(capBytes: number): EgressError {
  return new EgressError("too_large", `expected at most ${capBytes} bytes`);
}

/** Ends an exchange when its time is over or its asker gives up, and tells afterwards why it ended. */
class Watch {
  readonly #signal: AbortSignal | undefined;
  readonly #stopTimer: () => void;
  readonly #over = Promise.withResolvers<never>();
  readonly #end = (failure: EgressError) => {
    this.#failure ??= failure;
    this.#over.reject(this.#failure);
    this.#opening?.giveUp(this.#failure);
    this.#connection?.cancel();
  };
  readonly #abort = () => this.#end(new EgressError("aborted", "it was given up"));
  #failure: EgressError | null = null;
  #opening: Opening | null = null;
  #connection: Connection | null = null;

  constructor({ timeoutMs, signal }: GuardedRequest, readonly clock: Clock) {
    this.#over.promise.catch(() => {}); // only of interest while something races with it
    this.#stopTimer = clock.after(timeoutMs, () => this.#end(new EgressError("timeout", "it took too long")));
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  /** The socket that is given up when the time is over; null when it is open or not wanted. */
  setOpening(opening: Opening | null): void {
    this.#opening = opening;
    if (this.#failure !== null) opening?.giveUp(this.#failure);
  }

  /** The connection that is closed when the time is over. */
  setConnection(connection: Connection): void {
    this.#connection = connection;
    if (this.#failure !== null) connection.cancel();
  }

  unlessOver<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#over.promise]);
  }

  throwIfOver(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  stop(): void {
    this.#stopTimer();
    this.#signal?.removeEventListener("abort", this.#abort);
  }

  /** Any failure of the exchange in our words: an end that we made ourselves goes before what it led to. */
  failureOf(error: unknown): EgressError {
    if (this.#failure !== null) return this.#failure;
    if (error instanceof EgressError) return error;
    return new EgressError("broken", "the connection broke", { cause: error });
  }
}
