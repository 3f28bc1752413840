import { assertEquals } from "@std/assert";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { createDeadlineWheel, TICK_MS } from "../../src/platform/net/deadline.ts";
import { NO_SLOT } from "../../src/platform/lib/collections/slot_set.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A clock that moves only when the test sets it. */
class SettableClock implements Clock {
  nowMs = 0;
  timers: { at: number; callback: () => void }[] = [];
  now = () => this.nowMs;
  monotonicMs = () => this.nowMs;
  after(delayMs: number, callback: () => void) {
    this.timers.push({ at: this.nowMs + delayMs, callback });
    return () => {};
  }
  advance(ms: number) {
    const end = this.nowMs + ms;
    for (;;) {
      const next = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.timers.splice(this.timers.indexOf(next), 1);
      this.nowMs = next.at;
      next.callback();
    }
    this.nowMs = end;
  }
}

Deno.test("DeadlineWheel calls back once, at most one tick late", () => {
  const clock = new SettableClock();
  const wheel = createDeadlineWheel(clock);
  const calls: number[] = [];
  wheel.watch({ slot: NO_SLOT, deadlineAt: 250, onDeadline: () => calls.push(clock.now()) });
  clock.advance(249);
  assertEquals(calls, []);
  clock.advance(1 + TICK_MS);
  assertEquals(calls, [300]);
  clock.advance(1000);
  assertEquals(calls, [300]);
});

Deno.test("DeadlineWheel follows a deadline that moves, and removes a cancelled one", () => {
  const clock = new SettableClock();
  const wheel = createDeadlineWheel(clock);
  const calls: string[] = [];
  const moving = { slot: NO_SLOT, deadlineAt: 100, onDeadline: () => calls.push("moving") };
  const removed = { slot: NO_SLOT, deadlineAt: 100, onDeadline: () => calls.push("removed") };
  wheel.watch(moving);
  wheel.watch(removed);
  wheel.watch(removed);
  moving.deadlineAt = 500;
  wheel.unwatch(removed);
  wheel.unwatch(removed);
  clock.advance(499);
  assertEquals(calls, []);
  clock.advance(TICK_MS);
  assertEquals(calls, ["moving"]);
});

Deno.test("DeadlineWheel runs one timer while it has deadlines and none afterwards", () => {
  const clock = new SettableClock();
  const wheel = createDeadlineWheel(clock);
  const watched = Array.from({ length: 10 }, () => ({ slot: NO_SLOT, deadlineAt: 1000, onDeadline() {} }));
  for (const one of watched) wheel.watch(one);
  assertEquals(clock.timers.length, 1);
  clock.advance(150);
  assertEquals(clock.timers.length, 1);
  for (const one of watched) wheel.unwatch(one);
  clock.advance(TICK_MS);
  assertEquals(clock.timers.length, 0);
  wheel.watch(itemAt(watched, 0));
  assertEquals(clock.timers.length, 1);
});

Deno.test("DeadlineWheel accepts a deadline that a callback adds", () => {
  const clock = new SettableClock();
  const wheel = createDeadlineWheel(clock);
  const calls: number[] = [];
  wheel.watch({
    slot: NO_SLOT,
    deadlineAt: 100,
    onDeadline: () => wheel.watch({ slot: NO_SLOT, deadlineAt: 300, onDeadline: () => calls.push(clock.now()) }),
  });
  clock.advance(400);
  assertEquals(calls, [300]);
});

Deno.test("DeadlineWheel keeps a deadline when the machine's clock is set back", () => {
  const clock = new ManualClock();
  const wheel = createDeadlineWheel(clock);
  let calls = 0;
  wheel.watch({ slot: NO_SLOT, deadlineAt: wheel.now() + 30_000, onDeadline: () => calls++ });
  clock.set(clock.now() - 3_600_000);
  clock.advance(29_999);
  assertEquals(calls, 0);
  clock.advance(1 + TICK_MS);
  assertEquals(calls, 1);
});
