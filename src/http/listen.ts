import { type Clock, sleep, systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { AbruptEnd } from "./abrupt_answer.ts";

/** What to listen with. */
export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly handler: Deno.ServeHandler<Deno.NetAddr>;
  readonly log: Log;
  readonly clock?: Clock;
  /** Given so that a test can let it fail. Default `Deno.serve`. */
  readonly serve?: Serve;
}

/** The part of `Deno.serve` that is used. */
export type Serve = (
  options: Deno.ServeTcpOptions,
  handler: Deno.ServeHandler<Deno.NetAddr>,
) => Pick<Deno.HttpServer<Deno.NetAddr>, "addr" | "finished" | "shutdown">;

/** An address that is listened on. */
export interface Listening {
  readonly address: string;
  readonly port: number;
  /**
   * Stops accepting and waits for what runs, up to `graceMs`; with 0 everything is cut off at once. After a grace the
   * platform has no way to cut off what is left: it ends with the process, or when whoever runs it ends it.
   *
   * @returns True when nothing runs any more.
   */
  shutdown(graceMs: number): Promise<boolean>;
  /** Resolves when the address is no longer listened on. */
  readonly closed: Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;
const CUT_OFF_MS = 1000;

/**
 * Listens, and listens again when the platform's accept loop gives up, as it does when the process is out of file
 * descriptors; left alone, that would end the process. What was connected before goes on meanwhile.
 *
 * @throws {Deno.errors.AddrInUse} If another process has the port; other errors of `Deno.serve` likewise.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { log, clock = systemClock } = options;
  await warnOfFewDescriptors(log);
  openSignalPipe();
  let stopping = false;
  // One for each server: the signal of a server that has given up must not fire.
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
  return {
    address,
    port,
    closed,
    async shutdown(graceMs) {
      stopping = true;
      if (graceMs <= 0) cutOff.abort(); // never after `shutdown`, which takes from the platform what it would abort
      // A server that has given up accepting rejects: there is nothing left to stop.
      const drained = (graceMs <= 0 ? server.finished : server.shutdown()).then(() => true, () => true);
      return await Promise.race([drained, sleep(clock, Math.max(graceMs, CUT_OFF_MS)).then(() => false)]);
    },
  };
}

function start(options: ListenOptions, port: number, signal: AbortSignal): ReturnType<Serve> {
  const { serve = Deno.serve as Serve, host: hostname, handler, log } = options;
  return serve({ hostname, port, signal, onListen() {}, onError: (error) => brokenAnswer(error, log) }, handler);
}

/** The handler catches its own failures, so what arrives here is an answer that broke while it was being sent. */
function brokenAnswer(error: unknown, log: Log): Response {
  if (!(error instanceof AbruptEnd)) log.debug("listen.answer_broken", { reason: reasonOf(error) });
  return new Response(null, { status: 500 });
}

/**
 * The platform opens a pipe for signals when it first needs one, and ends the process if no descriptor is left then. So
 * it is made to need one now.
 */
function openSignalPipe(): void {
  const ignore = () => {};
  Deno.addSignalListener("SIGINT", ignore);
  Deno.removeSignalListener("SIGINT", ignore);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

const ENOUGH_DESCRIPTORS = 65_536;

/** Each connection takes a descriptor; a usual default of 1,024 is soon used up by idle ones. */
async function warnOfFewDescriptors(log: Log): Promise<void> {
  const limit = await softDescriptorLimit();
  if (limit === null || limit >= ENOUGH_DESCRIPTORS) return;
  log.warn("listen.few_descriptors", {
    count: limit,
    reason: `the limit of open files is ${limit}: expected ${ENOUGH_DESCRIPTORS}, see "ulimit -n"`,
  });
}

/** The soft limit of open files; null where the system does not tell, or has none. */
async function softDescriptorLimit(): Promise<number | null> {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(await Deno.readTextFile("/proc/self/limits"));
    return match === null ? null : Number(match[1]);
  } catch {
    return null; // not Linux, or not permitted: only a warning is lost
  }
}
