import { type Clock, systemClock } from "../lib/basics/clock.ts";
import { type SlotMember, SlotSet } from "../lib/collections/slot_set.ts";

/**
 * An operation with a deadline. Its owner may change `deadlineAt` at any time. An idle deadline moves with each byte,
 * at the cost of one assignment.
 */
export interface Watched extends SlotMember {
  /** In the time of {@linkcode DeadlineWheel.now}. */
  deadlineAt: number;
  /** Called once, up to {@linkcode TICK_MS} late. The operation is no longer watched then. Must not throw. */
  onDeadline(): void;
}

/**
 * One timer for all deadlines of the hot path. A timer or an `AbortSignal.timeout` per operation would cost more than
 * the operation.
 */
export interface DeadlineWheel {
  /** Monotonic milliseconds, the time base of deadlines. Changes of the machine's clock do not move them. */
  now(): number;
  /** Starts watching. Adding an operation twice has no effect. */
  watch(watched: Watched): void;
  /** Stops watching. Removing an operation that is not watched has no effect. */
  unwatch(watched: Watched): void;
}

/** The interval between checks, in milliseconds. */
export const TICK_MS = 100;

/**
 * Creates a wheel with that clock. Its timer runs only while an operation is watched, and does not keep the process
 * alive.
 */
export function createDeadlineWheel(clock: Clock): DeadlineWheel {
  const all = new SlotSet<Watched>();
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

/** The wheel of the process. */
export const sharedWheel: DeadlineWheel = createDeadlineWheel(systemClock);

const wheels = new WeakMap<Clock, DeadlineWheel>([[systemClock, sharedWheel]]);

/** The wheel of a clock. For the system clock it is the shared wheel. */
export function wheelOf(clock: Clock): DeadlineWheel {
  let wheel = wheels.get(clock);
  if (!wheel) wheels.set(clock, wheel = createDeadlineWheel(clock));
  return wheel;
}
