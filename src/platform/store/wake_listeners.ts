import type { Clock } from "../lib/basics/clock.ts";
import type { Log } from "../lib/basics/log.ts";

/** The longest delay of one timer. */
const MAX_TIMER_MS = 3_600_000;

/** A kind of job and when one of its jobs is due. */
export interface DueTime {
  readonly kind: string;
  /** Unix milliseconds by the store's clock. */
  readonly dueAt: number;
}

/**
 * Calls listeners when jobs of a kind may be due: at once, or by timers of this process that are exact to the
 * millisecond. A wake-up is a hint. The job records decide, so a lost, late or repeated wake-up does no harm.
 */
export class WakeListeners {
  readonly #listeners = new Set<(kind: string) => void>();
  readonly #timers = new Map<string, () => void>();
  readonly #clock: Clock;
  readonly #log: Log;

  /**
   * @param clock The clock of the due times.
   * @param log Logs a listener that throws.
   */
  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Adds a listener and returns a function that removes it. */
  listen(listener: (kind: string) => void): () => void {
    const own = (kind: string) => listener(kind); // so that one function can be added twice
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Calls every listener, also after one has thrown. */
  wake(kind: string): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(kind);
      } catch (error) {
        this.#log.error("wake_listener_failed", { jobKind: kind, reason: String(error) });
      }
    }
  }

  /** Wakes a kind at an instant, or at once if it has passed. */
  wakeAt({ kind, dueAt }: DueTime): void {
    const delayMs = dueAt - this.#clock.now();
    if (delayMs <= 0) return this.wake(kind);
    const name = `${dueAt} ${kind}`;
    if (this.#timers.has(name)) return;
    const stop = this.#clock.after(Math.min(Math.ceil(delayMs), MAX_TIMER_MS), () => {
      this.#timers.delete(name);
      this.wakeAt({ kind, dueAt }); // again, in case the timer was early or the clock was set back
    });
    this.#timers.set(name, stop);
  }

  /** Stops all timers and removes all listeners. */
  close(): void {
    for (const stop of this.#timers.values()) stop();
    this.#timers.clear();
    this.#listeners.clear();
  }
}
