import { type Clock, sleep, systemClock } from "../lib/basics/clock.ts";
import { holdState } from "../lib/basics/held.ts";
import { descriptorLimit } from "../lib/process/descriptors.ts";
import { ownAcceptPause } from "../lib/process/own_heartbeat.ts";
import { errorName, type Log } from "../lib/basics/log.ts";
import type { MaybePromise } from "../lib/basics/maybe_promise.ts";
import { AbortedResponse } from "./abort_after.ts";

/** Options of {@linkcode listen}. */
export interface ListenOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly handler: Deno.ServeHandler<Deno.NetAddr>;
  readonly log: Log;
  readonly clock?: Clock;
  /** Whether other threads accept connections at the same address. Default: false. */
  readonly reusePort?: boolean;
  /** Replaced in tests. Default `Deno.serve`. */
  readonly serve?: Serve;
}

/** The part of `Deno.serve` that is used. */
export type Serve = (
  options: Deno.ServeTcpOptions,
  handler: Deno.ServeHandler<Deno.NetAddr>,
) => Pick<Deno.HttpServer<Deno.NetAddr>, "addr" | "finished" | "shutdown">;

/** A listening server. */
export interface Listening {
  readonly address: string;
  readonly port: number;
  /**
   * Stops accepting and waits up to `graceMs` for running requests; 0 aborts everything at once. The platform cannot
   * abort requests after a grace period: they end with the process, or when their owner ends them.
   *
   * @returns True if no request is running any more.
   */
  shutdown(graceMs: number): Promise<boolean>;
  /** Resolves when the server has stopped listening. */
  readonly closed: Promise<void>;
  /** Sets whether each response closes its connection. */
  setClosing(isClosing: boolean): void;
  /**
   * Closes every connection without a running request, also those whose request is incomplete, which the platform does
   * not show. A new listener takes the place of the old one, which ends with its last request. Only on Linux, where two
   * listeners can have one address. A caller that sends a request over a kept connection at this moment sees a reset.
   *
   * @returns Whether it was done.
   */
  renew(): boolean;
}

/** Whether two listeners can share an address, so that one can take the place of the other. */
const CAN_RENEW = Deno.build.os === "linux";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;
const CUT_OFF_MS = 1000;

/**
 * Listens, and listens again if the platform's accept loop fails, as it does without free file descriptors. Otherwise
 * that would end the process. Connections without a running request are closed then.
 *
 * @throws {Deno.errors.AddrInUse} If another process uses the port; other errors of `Deno.serve` likewise.
 */
export function listen(options: ListenOptions): Promise<Listening> {
  return Promise.try(startListening, options);
}

function startListening(options: ListenOptions): Listening {
  const { log, clock = systemClock, handler, host, port: wanted, reusePort = false } = options;
  openSignalPipe();
  // Another process of this user could share the address too, so it must be free.
  if (CAN_RENEW && !reusePort && wanted !== 0) Deno.listen({ hostname: host, port: wanted }).close();
  let isClosing = false;
  const closing: ListenOptions["handler"] = (request, info) => {
    const response = handler(request, info);
    return isClosing ? closed(response) : response;
  };
  const shared = { ...options, handler: closing, reusePort: reusePort || CAN_RENEW };
  let stopping = false;
  // One per server: the signal of a failed server must not fire.
  let cutOff = new AbortController();
  let server = start(shared, wanted, cutOff.signal);
  let renewed = Promise.withResolvers<void>();
  /** Servers that were replaced, until their last request has ended. */
  const replaced = new Set<Promise<void>>();
  const { hostname: address, port } = server.addr;

  async function untilStopped(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const since = clock.monotonicMs();
      const current = server;
      const failure = await Promise.race([current.finished.then(() => null, errorName), renewed.promise]);
      if (current !== server) continue;
      if (!failure || stopping) return;
      if (clock.monotonicMs() - since > MAX_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      log.error("listen.interrupted", { address: `${address}:${port}`, reason: failure });
      retire(current); // its idle connections have the descriptors that are missing
      do {
        await sleep(clock, pauseMs);
        if (stopping) return;
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
        // A listener that `renew` has put in the place meanwhile needs no successor.
      } while (server === current && !listenAgain());
    }
  }

  /** Closes the idle connections of a server that has a successor, and the others after their response. */
  function retire(before: ReturnType<Serve>): void {
    const ended = before.shutdown().catch(() => {}).then(() => void replaced.delete(ended));
    replaced.add(ended);
  }

  function listenAgain(): boolean {
    const nextCutOff = new AbortController();
    try {
      server = start(shared, port, nextCutOff.signal);
      cutOff = nextCutOff;
      return true;
    } catch (error) {
      log.error("listen.failed", { address: `${address}:${port}`, reason: errorName(error) });
      return false;
    }
  }

  const leave = ownAcceptPause()?.join() ?? (() => {});
  const stopped = untilStopped().finally(leave);
  holdState(stopped, "the listener");
  return {
    address,
    port,
    closed: stopped,
    setClosing: (isSet) => void (isClosing = isSet),
    renew() {
      const before = server;
      if (!CAN_RENEW || stopping || !listenAgain()) return false;
      renewed.resolve();
      renewed = Promise.withResolvers();
      retire(before);
      return true;
    },
    async shutdown(graceMs) {
      stopping = true;
      if (graceMs <= 0) cutOff.abort(); // never after `shutdown`, which would prevent the abort
      // A server whose accept loop failed rejects: there is nothing to stop.
      const last = (graceMs <= 0 ? server.finished : server.shutdown()).catch(() => {});
      const drained = Promise.all([last, ...replaced]).then(() => true);
      return await Promise.race([drained, sleep(clock, Math.max(graceMs, CUT_OFF_MS)).then(() => false)]);
    },
  };
}

/** The response, after which its connection closes. */
async function closed(answered: MaybePromise<Response>): Promise<Response> {
  const response = await answered;
  try {
    response.headers.set("connection", "close");
    return response;
  } catch {
    const headers = new Headers(response.headers); // those of a response of `fetch` cannot be changed
    headers.set("connection", "close");
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
  }
}

function start(options: ListenOptions, port: number, signal: AbortSignal): ReturnType<Serve> {
  const { serve = Deno.serve as Serve, host: hostname, handler, log, reusePort = false } = options;
  const onError = (error: unknown) => brokenAnswer(error, log);
  const server = serve({ hostname, port, reusePort, signal, onListen() {}, onError }, handler);
  server.finished.catch(() => {}); // looked at by `untilStopped`, which may come to it later
  return server;
}

/** The handler catches its own errors, so this is a response that failed while it was sent. */
function brokenAnswer(error: unknown, log: Log): Response {
  if (!(error instanceof AbortedResponse)) log.debug("listen.answer_broken", { reason: errorName(error) });
  return new Response(null, { status: 500 });
}

/**
 * The platform opens a pipe for signals on first use, and ends the process if no descriptor is free then. This opens it
 * at the start.
 */
function openSignalPipe(): void {
  const ignore = () => {};
  Deno.addSignalListener("SIGINT", ignore);
  Deno.removeSignalListener("SIGINT", ignore);
}

/** The limit of open files below which the start warns. */
export const ENOUGH_DESCRIPTORS = 65_536;

/**
 * Warns of a low limit of open files. Each connection needs a descriptor, and a common default of 1,024 is soon
 * exhausted by idle connections.
 */
export async function warnOfFewDescriptors(log: Log): Promise<void> {
  const limit = await descriptorLimit();
  if (limit === null || limit >= ENOUGH_DESCRIPTORS) return;
  log.warn("listen.few_descriptors", {
    count: limit,
    reason: `the limit of open files is ${limit}: expected ${ENOUGH_DESCRIPTORS}, see "ulimit -n"`,
  });
}

/** The address of a server without a final slash: `http://127.0.0.1:8787`. */
export function urlOf({ address, port }: Pick<Listening, "address" | "port">): string {
  return `http://${hostOf(address)}:${port}`;
}

/** An address as the host of a URL: an IPv6 address gets brackets. */
function hostOf(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
