/**
 * Alarm clocks for jobs. They only say "jobs of this kind may be due"; the job records are the truth, so an alarm that
 * is lost, late or doubled harms nothing: the sweep finds what is overdue, and a claim that comes second finds nothing.
 *
 * - due now: listeners are told as soon as the commit is durable;
 * - due within a minute: also a timer of this process, exact to the millisecond;
 * - due later: also a message of the database's queue, written in the same atomic. One message rings for every job of
 *   its kind within a second, since it names no job.
 */
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { DueTime } from "./kv/transaction.ts";

// The queue takes no longer delay (Deno KV: 30 days); a job beyond that is found by the sweep.
const LONGEST_DELAY_MS = 30 * 24 * 3_600_000 - 60_000;
const LONGEST_TIMER_MS = 3_600_000;
const MESSAGE_GRAIN_MS = 1_000;
const FORGET_EVERY_MS = 60_000;

/** Tells listeners of kinds that may be due. */
export class WakeListeners {
  readonly #listeners = new Set<(kind: string) => void>();
  readonly #timers = new Map<string, () => void>();
  readonly #clock: Clock;
  readonly #log: Log;

  /**
   * @param clock Due times are by it.
   * @param log Told of a listener that throws.
   */
  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Adds a listener; gives the way to take it off. */
  listen(listener: (kind: string) => void): () => void {
    const own = (kind: string) => listener(kind); // so that one function may listen twice
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Tells every listener. One that throws does not keep it from the others. */
  wake(kind: string): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(kind);
      } catch (error) {
        this.#log.error("wake_listener_failed", { jobKind: kind, reason: String(error) });
      }
    }
  }

  /** Wakes a kind at an instant, at once when that is past. */
  wakeAt({ kind, dueAt }: DueTime): void {
    const delayMs = dueAt - this.#clock.now();
    if (delayMs <= 0) return this.wake(kind);
    const name = `${dueAt} ${kind}`;
    if (this.#timers.has(name)) return;
    const stop = this.#clock.after(Math.min(Math.ceil(delayMs), LONGEST_TIMER_MS), () => {
      this.#timers.delete(name);
      this.wakeAt({ kind, dueAt }); // again, should the timer have been early or the clock set back
    });
    this.#timers.set(name, stop);
  }

  /** Stops every timer and forgets every listener. */
  close(): void {
    for (const stop of this.#timers.values()) stop();
    this.#timers.clear();
    this.#listeners.clear();
  }
}

/** A message of the database's queue: which kind may be due. */
interface AlarmMessage {
  readonly alarm: string;
}

/** Alarms that outlive a long wait, as delayed messages of the database's queue. */
export class QueueAlarms {
  readonly #pending = new Map<string, number>();
  readonly #clock: Clock;
  #lookedAt = 0;

  /** @param clock Due times are by it; the queue's delays are by the machine's own. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a message for each kind and second that has none yet; gives what to call once the write is durable. */
  enqueue(atomic: Deno.AtomicOperation, due: readonly DueTime[]): () => void {
    const now = this.#clock.now();
    const added = new Map<string, number>();
    for (const { kind, dueAt } of due) {
      if (dueAt <= now) continue;
      const rings = Math.ceil(dueAt / MESSAGE_GRAIN_MS) * MESSAGE_GRAIN_MS;
      const name = `${rings} ${kind}`;
      if (this.#pending.has(name) || added.has(name)) continue;
      const delay = Math.min(Math.ceil(rings - now), LONGEST_DELAY_MS);
      atomic.enqueue({ alarm: kind } satisfies AlarmMessage, { delay, backoffSchedule: [] });
      added.set(name, rings);
    }
    return () => {
      for (const [name, rings] of added) this.#pending.set(name, rings);
      if (added.size > 0) this.#forgetRung(now);
    };
  }

  #forgetRung(now: number): void {
    if (now < this.#lookedAt + FORGET_EVERY_MS) return;
    this.#lookedAt = now;
    for (const [name, rings] of this.#pending) {
      if (rings <= now) this.#pending.delete(name);
    }
  }
}

/** The kind that a queue message rings for; null for a message that is none of ours. */
export function alarmKindOf(message: unknown): string | null {
  const kind = (message as Partial<AlarmMessage> | null)?.alarm;
  return typeof kind === "string" ? kind : null;
}
