import { type Clock, systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** Copies of a signal that arrive within this span count as one. */
export const SIGNAL_COPY_MS = 1_000;

/** What a signal means: the first one stops the process in order, the second one ends it at once. */
export type SignalMeaning = "first" | "copy" | "second";

/**
 * Tells a second signal from a copy of the first. A task runner forwards a signal that the process group already got,
 * so one Ctrl-C, or one SIGTERM of systemd, arrives two or three times.
 *
 * @returns Takes the arrival of a signal, of whatever kind.
 */
export function createSignalCounter(clock: Clock = systemClock): () => SignalMeaning {
  let firstAt: number | null = null;
  return () => {
    const now = clock.now();
    if (firstAt === null) {
      firstAt = now;
      return "first";
    }
    // A clock that was set back tells nothing: then the operator's word counts.
    return now >= firstAt && now - firstAt < SIGNAL_COPY_MS ? "copy" : "second";
  };
}

/** What signals do. */
export interface StopSignalOptions {
  readonly log: Log;
  /** Called for a second signal: ends the process at once. */
  readonly onSecond: () => void;
  /** Default the machine's. */
  readonly clock?: Clock;
}

/**
 * Listens for SIGINT and SIGTERM. SIGHUP, which is sent when a terminal closes or to have a configuration read again,
 * is logged as `reload_unsupported` and changes nothing.
 *
 * @returns Resolves with the first signal to stop.
 */
export function listenForStop({ log, onSecond, clock = systemClock }: StopSignalOptions): Promise<Deno.Signal> {
  const { promise, resolve } = Promise.withResolvers<Deno.Signal>();
  const count = createSignalCounter(clock);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      const meaning = count();
      if (meaning === "first") resolve(signal);
      if (meaning === "second") onSecond();
    });
  }
  ignoreHangups(log, clock);
  return promise;
}

function ignoreHangups(log: Log, clock: Clock): void {
  let loggedAt = -Infinity;
  const onHangup = () => {
    const now = clock.now();
    if (now >= loggedAt && now - loggedAt < SIGNAL_COPY_MS) return;
    loggedAt = now;
    log.warn("reload_unsupported", { signal: "SIGHUP", reason: "the configuration is read at the start alone" });
  };
  try {
    Deno.addSignalListener("SIGHUP", onHangup);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // a system without this signal
  }
}
