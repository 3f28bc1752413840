import http from "node:http";
import https from "node:https";
import { type Clock, systemClock } from "../lib/clock.ts";
import { EgressError, refusal } from "./egress_error.ts";
import { type EgressPolicy, type Schemes, vetTarget, type VettedTarget } from "./target.ts";
import { isUntrusted } from "./trust.ts";

/** One request to an address that a caller or a vendor named. */
export interface GuardedRequest {
  readonly method: "GET" | "POST";
  /** Names in lower case. Dropped, all but `accept`, when a redirect leads to another host. */
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

/** No connection is kept for another request, and no proxy of the environment applies, whatever switches it on. */
const AGENT_OPTIONS = { keepAlive: false, maxCachedSessions: 0, proxyEnv: {} };
const PLAIN_AGENT = new http.Agent(AGENT_OPTIONS);
const SECURE_AGENT = new https.Agent(AGENT_OPTIONS);

const CONNECT_MS = 5000;
/** How many addresses of a name are tried. */
const MOST_ADDRESSES = 3;

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
      const response = await connectToAny(target, sent, policy, watch);
      const location = redirectOf(response);
      if (location === null || request.redirects === undefined) return responseOf(response, target.url, request, watch);
      response.destroy();
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

/** Tries the addresses in turn; only while nothing was sent. */
async function connectToAny(target: VettedTarget, request: GuardedRequest, policy: EgressPolicy, watch: Watch) {
  let failure: unknown;
  for (const address of target.addresses.slice(0, MOST_ADDRESSES)) {
    try {
      return await connectUnderAny(trustsOf(target.url, policy), target.url, address, request, watch);
    } catch (error) {
      failure = error;
      if (!(error instanceof EgressError) || error.kind !== "connect") break;
    }
  }
  throw failure;
}

/** What a certificate has to stand under, as an option of Node: roots in PEM, or the usual ones. */
interface Trust {
  readonly ca?: string[];
}

function trustsOf(url: URL, { caCertificates = [] }: EgressPolicy): Trust[] {
  const usual = {};
  return url.protocol === "https:" && caCertificates.length > 0 ? [{ ca: [...caCertificates] }, usual] : [usual];
}

/** Tries the roots in turn: before a certificate is accepted nothing is sent. */
async function connectUnderAny(
  [trust, ...others]: readonly Trust[],
  url: URL,
  address: string,
  request: GuardedRequest,
  watch: Watch,
): Promise<http.IncomingMessage> {
  try {
    return await connect(trust, url, address, request, watch);
  } catch (error) {
    const isLast = others.length === 0 || !(error instanceof EgressError) || !isUntrusted(error.details.cause);
    if (isLast) throw error;
    return await connectUnderAny(others, url, address, request, watch);
  }
}

function connect(
  trust: Trust,
  url: URL,
  address: string,
  request: GuardedRequest,
  watch: Watch,
): Promise<http.IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const outgoing = (isSecure ? https : http).request(url, {
    method: request.method,
    agent: isSecure ? SECURE_AGENT : PLAIN_AGENT,
    // Called for names alone; an address in the URL was judged as it stands.
    lookup: (_name, options, callback) => {
      const family = address.includes(":") ? 6 : 4;
      queueMicrotask(() => options.all ? callback(null, [{ address, family }]) : callback(null, address, family));
    },
    headers: headersOf(url, request),
    ...trust,
  });
  let isConnected = false;
  const stopConnecting = watch.clock.after(request.connectMs ?? CONNECT_MS, () => {
    if (!isConnected) outgoing.destroy(new EgressError("connect", "no connection was made in time"));
  });
  outgoing.on("socket", (socket) => {
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      isConnected = true;
      stopConnecting();
    });
  });
  outgoing.on("response", resolve);
  outgoing.on("error", (error) => reject(watch.failureOf(error)));
  outgoing.on("close", stopConnecting);
  watch.guard(() => outgoing.destroy());
  outgoing.end(request.body);
  return promise;
}

function headersOf(url: URL, request: GuardedRequest): Record<string, string> {
  const headers = { ...request.headers, host: url.host, "accept-encoding": "identity", connection: "close" };
  return request.body === undefined ? headers : { ...headers, "content-length": String(request.body.length) };
}

function redirectOf(response: http.IncomingMessage): string | null {
  const { statusCode = 0, headers } = response;
  return [301, 302, 303, 307, 308].includes(statusCode) ? headers.location ?? null : null;
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
  const { accept } = request.headers ?? {};
  const headers = from.host === to.host ? request.headers : accept === undefined ? {} : { accept };
  return { ...request, method: "GET", body: undefined, headers };
}

function responseOf(
  response: http.IncomingMessage,
  url: URL,
  { capBytes }: GuardedRequest,
  watch: Watch,
): GuardedResponse {
  const header = (name: string) => {
    const value = response.headers[name];
    return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value;
  };
  const discard = () => {
    watch.stop();
    response.destroy();
  };
  const coding = header("content-encoding");
  if (coding !== null && coding !== "identity") {
    discard();
    throw new EgressError("broken", "the answer came in a coding that was not asked for");
  }
  return { status: response.statusCode ?? 0, url, header, body: cappedBody(response, capBytes, watch), discard };
}

async function* cappedBody(response: http.IncomingMessage, capBytes: number, watch: Watch): AsyncGenerator<Uint8Array> {
  try {
    if (Number(response.headers["content-length"] ?? 0) > capBytes) throw tooLarge(capBytes);
    let total = 0;
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      total += chunk.length;
      if (total > capBytes) throw tooLarge(capBytes);
      yield chunk;
    }
    watch.throwIfOver();
    if (!response.complete) throw new EgressError("broken", "the answer broke off");
  } catch (error) {
    throw watch.failureOf(error);
  } finally {
    watch.stop();
    response.destroy();
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
    this.#destroy();
  };
  readonly #abort = () => this.#end(new EgressError("aborted", "it was given up"));
  #failure: EgressError | null = null;
  #destroy = () => {};

  constructor({ timeoutMs, signal }: GuardedRequest, readonly clock: Clock) {
    this.#over.promise.catch(() => {}); // only of interest while something races with it
    this.#stopTimer = clock.after(timeoutMs, () => this.#end(new EgressError("timeout", "it took too long")));
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  /** What is destroyed when the time is over. */
  guard(destroy: () => void): void {
    this.#destroy = destroy;
    if (this.#failure !== null) destroy();
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
    if (error instanceof Deno.errors.NotCapable) {
      return refusal("private_address", "expected a host that may be reached");
    }
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|ENETDOWN|EHOSTDOWN)$/.test(code)) {
      return new EgressError("connect", "no connection could be made", { cause: error });
    }
    if (
      /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO|HOSTNAME_MISMATCH)/.test(code)
    ) {
      return new EgressError("tls", "its certificate or its TLS was not accepted", { cause: error });
    }
    return new EgressError("broken", "the connection broke", { cause: error });
  }
}
