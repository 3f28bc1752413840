import { type Clock, systemClock } from "../lib/basics/clock.ts";
import { EgressError } from "./egress_error.ts";
import { connectGuarded } from "./guarded_connect.ts";
import type { Connection } from "./http1/connection.ts";
import { isOwnMistake } from "./http1/connection_error.ts";
import { headerLinesOf } from "./http1/header_lines.ts";
import { type HttpResponse, responseOf } from "./http1/response.ts";
import { createPinnedDialer, type Opening, type PinnedDialer } from "./pinned_socket.ts";
import { type EgressPolicy, type Schemes, vetTarget, type VettedTarget } from "./target.ts";

/** A request to an address given by a caller or a vendor. */
export interface GuardedRequest {
  readonly method: "GET" | "POST";
  /** Names in lower case. A redirect to another host drops all but `accept` and `range`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly schemes: Schemes;
  /** The maximum number of redirects. Each leads to a GET and is checked like the first address. Default 0. */
  readonly redirects?: number;
  /** The maximum body size; a longer body is `too_large`. */
  readonly maxBytes: number;
  /** The time limit for a connection, including TLS. Default 5 s. */
  readonly connectMs?: number;
  /** The time limit for the whole request, including the body. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The head of a response, and its body as a stream. */
export interface GuardedResponse {
  readonly status: number;
  /** The address that responded, after redirects. */
  readonly url: URL;
  /** The field by its lower-case name; repeated fields are joined with a comma; null if missing. */
  header(name: string): string | null;
  /**
   * The body; can be read once. Leaving the loop early closes the connection.
   *
   * @throws {EgressError} While it is read: `too_large`, `timeout`, `broken`, `aborted`.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection without reading the body. */
  discard(): void;
}

const DEFAULT_CONNECT_MS = 5_000;

/** One per policy: parsing root certificates takes milliseconds. */
const dialers = new WeakMap<EgressPolicy, PinnedDialer>();

/**
 * Sends a request under the egress rules. The address and everything that its name resolves to are checked. The
 * connection goes to one of the checked addresses, and the certificate is verified against the name. Every redirect is
 * checked in the same way. Each request has its own connection. No proxy of the environment applies. Content codings
 * are declined, so that the size limit applies to the bytes in memory.
 *
 * @param address The address as given.
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
      if (redirects === 0) throw new EgressError("redirect", "it redirects too many times");
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
  // Connections are not kept: callers seldom name the same address twice.
  return responseOf({ connection, ...received }, () => connection.close());
}

function redirectOf({ status, head }: HttpResponse): string | null {
  return [301, 302, 303, 307, 308].includes(status) ? head.get("location") : null;
}

function nextOf(location: string, from: URL): URL {
  if (!URL.canParse(location, from)) throw new EgressError("redirect", "it redirects without an address");
  const next = new URL(location, from);
  if (from.protocol === "https:" && next.protocol !== "https:") {
    throw new EgressError("redirect", "it redirects from https to another scheme");
  }
  return next;
}

function afterRedirect(request: GuardedRequest, from: URL, to: URL): GuardedRequest {
  const { accept, range } = request.headers ?? {};
  const kept = { ...(accept === undefined ? {} : { accept }), ...(range === undefined ? {} : { range }) };
  const headers = from.host === to.host ? request.headers : kept;
  const { body: _body, headers: _headers, ...rest } = request;
  return { ...rest, method: "GET", ...(headers && { headers }) };
}

function guardedResponseOf(
  response: HttpResponse,
  url: URL,
  { maxBytes: capBytes }: GuardedRequest,
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
    throw new EgressError("broken", "the response has an unrequested content coding");
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

/** Ends an exchange at its time limit or when the caller cancels it, and reports the reason. */
class Watch {
  readonly #signal: AbortSignal | undefined;
  readonly #stopTimer: () => void;
  readonly #over = Promise.withResolvers<never>();
  readonly #end = (failure: EgressError) => {
    this.#failure ??= failure;
    this.#over.reject(this.#failure);
    this.#opening?.cancel(this.#failure);
    this.#connection?.cancel();
  };
  readonly #abort = () => this.#end(new EgressError("aborted", "the connection was cancelled"));
  #failure: EgressError | null = null;
  #opening: Opening | null = null;
  #connection: Connection | null = null;

  constructor({ timeoutMs, signal }: GuardedRequest, readonly clock: Clock) {
    this.#over.promise.catch(() => {}); // only relevant while a race is pending
    this.#stopTimer = clock.after(timeoutMs, () => this.#end(new EgressError("timeout", "the request timed out")));
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  /** The socket to cancel at the time limit; null if it is open or no longer needed. */
  setOpening(opening: Opening | null): void {
    this.#opening = opening;
    if (this.#failure !== null) opening?.cancel(this.#failure);
  }

  /** The connection to close at the time limit. */
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

  /**
   * Converts any failure of the exchange. A timeout or a cancellation takes precedence over the failure that it caused.
   * A mistake of the gateway stays what it is: no server has caused it.
   */
  failureOf(error: unknown): unknown {
    if (this.#failure !== null) return this.#failure;
    if (error instanceof EgressError || isOwnMistake(error)) return error;
    return new EgressError("broken", "the connection broke", { cause: error });
  }
}
