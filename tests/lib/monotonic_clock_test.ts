import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { MonotonicClock } from "../../src/platform/lib/basics/monotonic_clock.ts";

Deno.test("MonotonicClock follows the monotonic clock and reads it seldom", () => {
  let time = 1_000;
  let reads = 0;
  const clock = new MonotonicClock(() => 5_000_000 + time, () => (reads++, time + 0.7));
  for (; time < 1_500; time++) assertEquals(clock.ms(), time);
  assertEquals(reads, 10);
});

Deno.test("MonotonicClock never goes backwards, and is behind by at most what the machine's clock was set back", () => {
  const step = fc.record({ passed: fc.nat(200), change: fc.integer({ min: -100_000, max: 100_000 }) });
  fc.assert(fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
    let [wall, time, last, setBack] = [1_000_000_000, 0, 0, 0];
    const clock = new MonotonicClock(() => wall, () => time);
    for (const { passed, change } of steps) {
      wall += passed + change;
      time += passed;
      setBack -= Math.min(change, 0);
      const now = clock.ms();
      const isNear = now <= time + 50 && now >= time - 50 - setBack;
      assert(now >= last && isNear, `got ${now} at ${time} after ${last}`);
      last = now;
    }
  }));
});

Deno.test("MonotonicClock is right again after the next read of the monotonic clock", () => {
  let [wall, time] = [1_000_000_000, 0];
  const clock = new MonotonicClock(() => wall, () => time);
  clock.ms();
  time += 10_000; // while the machine's clock was set back by as much
  assertEquals(clock.ms(), 0);
  wall += 50;
  time += 50;
  assertEquals(clock.ms(), 10_050);
});
