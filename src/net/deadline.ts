import { type Clock, systemClock } from "../lib/clock.ts";

/**
 * Something that must be over by an instant. Its owner may move `deadlineAt` at any time: an idle deadline is moved
 * with each byte, at the price of an assignment.
 */
export interface Watched {
  /** By the wheel's {@linkcode DeadlineWheel.now}. */
  deadlineAt: number;
  /** Called once, up to {@linkcode TICK_MS} late; the watch is over then. Must not throw. */
  onDeadline(): void;
}

/**
 * One timer for all deadlines of the hot path, where a timer or an `AbortSignal.timeout` each would cost more than the
 * work.
 */
export interface DeadlineWheel {
  /** Monotonic milliseconds, from which deadlines are reckoned: no deadline moves when the machine's clock is set. */
  now(): number;
  /** Begins to watch; adding what is watched already changes nothing. */
  watch(watched: Watched): void;
  /** Ends the watch; taking out what is not watched changes nothing. */
  unwatch(watched: Watched): void;
}

/** How often the wheel looks, in milliseconds. */
export const TICK_MS = 100;

/** A wheel by that clock. Its timer runs only while something is watched, and does not keep the process alive. */
export function createDeadlineWheel(clock: Clock): DeadlineWheel {
  const all = new Set<Watched>();
  let ticking = false;

  function tick(): void {
    const now = clock.monotonicMs();
    for (const watched of all) {
      if (watched.deadlineAt > now) continue;
      all.delete(watched);
      watched.onDeadline();
    }
    ticking = all.size > 0;
    if (ticking) clock.after(TICK_MS, tick);
  }

  return {
    now: () => clock.monotonicMs(),
    watch(watched) {
      all.add(watched);
      if (ticking) return;
      ticking = true;
      clock.after(TICK_MS, tick);
    },
    unwatch: (watched) => void all.delete(watched),
  };
}

/** The wheel that the whole process shares. */
export const sharedWheel: DeadlineWheel = createDeadlineWheel(systemClock);

const wheels = new WeakMap<Clock, DeadlineWheel>([[systemClock, sharedWheel]]);

/** The one wheel of a clock: the shared one for the machine's own. */
export function wheelOf(clock: Clock): DeadlineWheel {
  let wheel = wheels.get(clock);
  if (!wheel) wheels.set(clock, wheel = createDeadlineWheel(clock));
  return wheel;
}
