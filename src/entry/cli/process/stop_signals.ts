import { type Clock, systemClock } from "../../../platform/lib/basics/clock.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";

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
  /** Called for the second signal; ends the process immediately. */
  readonly onSecond: () => void;
  /** Called for SIGHUP. */
  readonly onHangup: () => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Listens for SIGINT and SIGTERM. SIGHUP is sent to reload a configuration, or when a terminal closes, when a reload is
 * harmless.
 *
 * @returns A promise that resolves with the first signal.
 */
export function listenForStop(
  { onSecond, onHangup, clock = systemClock }: StopSignalOptions,
): Promise<Deno.Signal> {
  const { promise, resolve } = Promise.withResolvers<Deno.Signal>();
  const count = createSignalCounter(clock);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      const meaning = count();
      if (meaning === "first") resolve(signal);
      if (meaning === "second") onSecond();
    });
  }
  listenForHangup(clock, onHangup);
  return promise;
}

/**
 * Passes on each SIGHUP: the first at once, those within {@linkcode SIGNAL_COPY_MS} as one more at the end of that
 * span. They can be copies of the first, as in {@linkcode createSignalCounter}, or announce a later change, which must
 * not be lost.
 */
export function hangupListener(clock: Clock, callback: () => void): () => void {
  let lastAt = -Infinity;
  let isDue = false;
  const call = () => {
    lastAt = clock.monotonicMs();
    callback();
  };
  return () => {
    const sinceMs = clock.monotonicMs() - lastAt;
    if (sinceMs >= SIGNAL_COPY_MS) return call();
    if (isDue) return;
    isDue = true;
    clock.after(SIGNAL_COPY_MS - sinceMs, () => {
      isDue = false;
      call();
    });
  };
}

function listenForHangup(clock: Clock, callback: () => void): void {
  const onHangup = hangupListener(clock, callback);
  try {
    Deno.addSignalListener("SIGHUP", onHangup);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // The system does not have this signal.
  }
}

/**
 * Creates the listener of a signal that asks for a reload. Signals during a reload lead to one more after it, however
 * many they are: it reads what they announce.
 *
 * @param reload May reject; it reports its failures.
 */
export function reloadAtSignal(reload: () => Promise<unknown>): () => void {
  let isRunning = false;
  let isRepeated = false;
  const run = async () => {
    isRunning = true;
    // Ends when no signal came during a reload: operators send them.
    do {
      isRepeated = false;
      await reload().catch(() => {});
    } while (isRepeated);
    isRunning = false;
  };
  return () => {
    if (isRunning) isRepeated = true;
    else holdWork(run());
  };
}
