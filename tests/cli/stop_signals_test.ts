import { assertEquals } from "@std/assert";
import { createSignalCounter, SIGNAL_COPY_MS } from "../../src/cli/stop_signals.ts";
import { ManualClock } from "../support/manual_clock.ts";

Deno.test("copies of a signal within a second are one signal", () => {
  const clock = new ManualClock();
  const count = createSignalCounter(clock);
  assertEquals([count(), count(), count()], ["first", "copy", "copy"]);
  clock.advance(SIGNAL_COPY_MS - 1);
  assertEquals(count(), "copy");
});

Deno.test("a signal a second after the first is the second one, however many copies came between", () => {
  const clock = new ManualClock();
  const count = createSignalCounter(clock);
  count();
  clock.advance(SIGNAL_COPY_MS - 1);
  count();
  clock.advance(1);
  assertEquals(count(), "second");
});

Deno.test("a clock that was set back does not take the second signal away", () => {
  const clock = new ManualClock();
  const count = createSignalCounter(clock);
  count();
  clock.set(clock.now() - 3_600_000);
  assertEquals(count(), "second");
});
