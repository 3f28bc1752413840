import { type Clock, systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** Copies of a signal that arrive within this span count as one. */
export const SIGNAL_COPY_MS = 1_000;

/** The meaning of a signal: the first stops the process gracefully, the second ends it immediately. */
export type SignalMeaning = "first" | "copy" | "second";

/**
 * Distinguishes a second signal from a copy of the first. A task runner forwards a signal that the process group has
 * received already, so one Ctrl-C, or one SIGTERM of systemd, arrives two or three times.
 *
 * @returns A function to call when a signal of any kind arrives.
 */
export function createSignalCounter(clock: Clock = systemClock): () => SignalMeaning {
  let firstAt: number | null = null;
  return () => {
    const now = clock.now();
    if (firstAt === null) {
      firstAt = now;
      return "first";
    }
    // After the clock was set back the span is unknown. The signal then counts as the operator's second.
    return now >= firstAt && now - firstAt < SIGNAL_COPY_MS ? "copy" : "second";
  };
}

/** Options of {@linkcode listenForStop}. */
export interface StopSignalOptions {
  readonly log: Log;
  /** Called for the second signal; ends the process immediately. */
  readonly onSecond: () => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Listens for SIGINT and SIGTERM. SIGHUP is sent when a terminal closes, or to reload a configuration. It is logged as
 * `reload_unsupported` and has no effect.
 *
 * @returns A promise that resolves with the first signal.
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
    log.warn("reload_unsupported", { signal: "SIGHUP", reason: "the configuration is read only at start" });
  };
  try {
    Deno.addSignalListener("SIGHUP", onHangup);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // The system does not have this signal.
  }
}
