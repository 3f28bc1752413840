import { assertEquals, assertRejects } from "@std/assert";
import { waitAtMost } from "../../src/platform/lib/basics/clock.ts";
import { ManualClock } from "../support/manual_clock.ts";

Deno.test("waitAtMost() ends with the promise or at the limit, and leaves no timer", async () => {
  const clock = new ManualClock();
  await waitAtMost(clock, 100, Promise.resolve());
  assertEquals(clock.waiting, 0);
  await assertRejects(() => waitAtMost(clock, 100, Promise.reject(new RangeError("failed"))), RangeError, "failed");
  assertEquals(clock.waiting, 0);

  let hasEnded = false;
  const late = waitAtMost(clock, 100, new Promise(() => {})).then(() => hasEnded = true);
  clock.advance(99);
  await Promise.resolve();
  assertEquals([hasEnded, clock.waiting], [false, 1]);
  clock.advance(1);
  await late;
  assertEquals([hasEnded, clock.waiting], [true, 0]);
});
