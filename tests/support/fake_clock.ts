import type { Clock } from "../../src/lib/clock.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves time on, calling what becomes due on the way, in order. */
  advance(ms: number): void;
  /** Moves time on in steps, letting promises settle after each. */
  run(ms: number, stepMs?: number): Promise<void>;
}

/** A clock at `startMs`, by default 2026-01-01T00:00:00Z. */
export function fakeClock(startMs: number = Date.UTC(2026, 0, 1)): FakeClock {
  let now = startMs;
  let nextId = 0;
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>();

  function advance(ms: number): void {
    const until = now + ms;
    for (;;) {
      const due = [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!due) break;
      const [id, { at, callback }] = due;
      timers.delete(id);
      now = Math.max(now, at);
      callback();
    }
    now = until;
  }

  return {
    now: () => now,
    after(delayMs, callback) {
      const id = nextId++;
      timers.set(id, { at: now + delayMs, callback });
      return () => void timers.delete(id);
    },
    advance,
    async run(ms, stepMs = 1000) {
      for (let left = ms; left > 0; left -= stepMs) {
        advance(Math.min(stepMs, left));
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    },
  };
}
