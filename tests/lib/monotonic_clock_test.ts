import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { MonotonicClock } from "../../src/lib/monotonic_clock.ts";

Deno.test("MonotonicClock follows the monotonic clock and reads it seldom", () => {
  let time = 1_000;
  let reads = 0;
  const clock = new MonotonicClock(() => 5_000_000 + time, () => (reads++, time + 0.7));
  for (; time < 1_500; time++) assertEquals(clock.ms(), time);
  assertEquals(reads, 10);
});

Deno.test("MonotonicClock never goes backwards and stays within 50 ms, however the machine's clock is changed", () => {
  const step = fc.record({ passed: fc.nat(200), change: fc.integer({ min: -100_000, max: 100_000 }) });
  fc.assert(fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
    let [wall, time, last] = [1_000_000_000, 0, 0];
    const clock = new MonotonicClock(() => wall, () => time);
    for (const { passed, change } of steps) {
      wall += passed + change;
      time += passed;
      const now = clock.ms();
      assert(now >= last && Math.abs(now - time) <= 50, `got ${now} at ${time} after ${last}`);
      last = now;
    }
  }));
});
