import { type Clock, sleep, systemClock } from "../lib/clock.ts";
import { holdState } from "../lib/held.ts";
import type { Log } from "../lib/log.ts";
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
  /** Whether to warn of a low limit of open files, once for a process. Default: true. */
  readonly checksDescriptors?: boolean;
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
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;
const CUT_OFF_MS = 1000;

/**
 * Listens, and listens again if the platform's accept loop fails, as it does without free file descriptors. Otherwise
 * that would end the process. Existing connections are not affected.
 *
 * @throws {Deno.errors.AddrInUse} If another process uses the port; other errors of `Deno.serve` likewise.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { log, clock = systemClock, checksDescriptors = true } = options;
  if (checksDescriptors) await warnOfFewDescriptors(log);
  openSignalPipe();
  let stopping = false;
  // One per server: the signal of a failed server must not fire.
  let cutOff = new AbortController();
  let server = start(options, options.port, cutOff.signal);
  const { hostname: address, port } = server.addr;

  async function untilStopped(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const since = clock.monotonicMs();
      const failure = await server.finished.then(() => null, reasonOf);
      if (failure === null || stopping) return;
      if (clock.monotonicMs() - since > MAX_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      log.error("listen.interrupted", { address: `${address}:${port}`, reason: failure });
      do {
        await sleep(clock, pauseMs);
        if (stopping) return;
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      } while (!listenAgain());
    }
  }

  function listenAgain(): boolean {
    try {
      cutOff = new AbortController();
      server = start(options, port, cutOff.signal);
      return true;
    } catch (error) {
      log.error("listen.failed", { address: `${address}:${port}`, reason: reasonOf(error) });
      return false;
    }
  }

  const closed = untilStopped();
  holdState(closed, "the listener");
  return {
    address,
    port,
    closed,
    async shutdown(graceMs) {
      stopping = true;
      if (graceMs <= 0) cutOff.abort(); // never after `shutdown`, which would prevent the abort
      // A server whose accept loop failed rejects: there is nothing to stop.
      const drained = (graceMs <= 0 ? server.finished : server.shutdown()).then(() => true, () => true);
      return await Promise.race([drained, sleep(clock, Math.max(graceMs, CUT_OFF_MS)).then(() => false)]);
    },
  };
}

function start(options: ListenOptions, port: number, signal: AbortSignal): ReturnType<Serve> {
  const { serve = Deno.serve as Serve, host: hostname, handler, log, reusePort = false } = options;
  const onError = (error: unknown) => brokenAnswer(error, log);
  return serve({ hostname, port, reusePort, signal, onListen() {}, onError }, handler);
}

/** The handler catches its own errors, so this is a response that failed while it was sent. */
function brokenAnswer(error: unknown, log: Log): Response {
  if (!(error instanceof AbortedResponse)) log.debug("listen.answer_broken", { reason: reasonOf(error) });
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** The limit of open files below which the start warns. */
export const ENOUGH_DESCRIPTORS = 65_536;

/** Each connection needs a descriptor. A common default of 1,024 is soon exhausted by idle connections. */
async function warnOfFewDescriptors(log: Log): Promise<void> {
  const limit = await softDescriptorLimit();
  if (limit === null || limit >= ENOUGH_DESCRIPTORS) return;
  log.warn("listen.few_descriptors", {
    count: limit,
    reason: `the limit of open files is ${limit}: expected ${ENOUGH_DESCRIPTORS}, see "ulimit -n"`,
  });
}

/** The soft limit of open files; null if the system has none or does not report it. */
export async function softDescriptorLimit(): Promise<number | null> {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(await Deno.readTextFile("/proc/self/limits"));
    return match === null ? null : Number(match[1]);
  } catch {
    return null; // not Linux, or not permitted: only a warning is lost
  }
}

/** The address of a server without a final slash: `http://127.0.0.1:8787`. */
export function urlOf({ address, port }: Pick<Listening, "address" | "port">): string {
  return `http://${hostOf(address)}:${port}`;
}

/** An address as the host of a URL: an IPv6 address gets brackets. */
function hostOf(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
