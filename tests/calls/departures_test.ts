import { assertEquals } from "@std/assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { Departures } from "../../src/services/calls/departures.ts";
import { ManualClock } from "../support/manual_clock.ts";

function departuresOf(count: number, departures: Departures, clock: ManualClock): number[] {
  const handled: number[] = [];
  for (let i = 0; i < count; i++) departures.add(() => void handled.push(i), clock);
  return handled;
}

Deno.test("a caller that disconnects alone is handled at once", () => {
  assertEquals(departuresOf(1, new Departures(), new ManualClock()), [0]);
});

Deno.test("callers that disconnect together are handled a few at a time, in order", () => {
  const clock = new ManualClock();
  const handled = departuresOf(10, new Departures(), clock);
  const sizes = [handled.length];
  while (clock.waiting > 0) {
    clock.advance(2);
    sizes.push(handled.length);
  }
  assertEquals(sizes, [4, 8, 10, 10]);
  assertEquals(handled, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

Deno.test("a caller that disconnects while others wait is handled after them", () => {
  const clock = new ManualClock();
  const departures = new Departures();
  const handled = departuresOf(6, departures, clock);
  clock.advance(2);
  departures.add(() => void handled.push(6), clock);
  departures.finish();
  assertEquals(handled, [0, 1, 2, 3, 4, 5, 6]);
});

Deno.test("at the end of the process all that wait are handled at once, and once", () => {
  const clock = new ManualClock();
  const departures = new Departures();
  const handled = departuresOf(10, departures, clock);
  departures.finish();
  assertEquals(handled.length, 10);
  clock.advance(10);
  assertEquals(handled.length, 10);
});

Deno.test("a call that waits keeps its asynchronous context", () => {
  const clock = new ManualClock();
  const departures = new Departures();
  const request = new AsyncLocalStorage<number>();
  const seen: (number | undefined)[] = [];
  for (let id = 0; id < 6; id++) {
    request.run(id, () => departures.add(() => void seen.push(request.getStore()), clock));
  }
  clock.advance(2);
  assertEquals(seen, [0, 1, 2, 3, 4, 5]);
});
