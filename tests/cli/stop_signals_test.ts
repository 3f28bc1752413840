import { assertEquals } from "@std/assert";
import { createSignalCounter, SIGNAL_COPY_MS } from "../../src/cli/stop_signals.ts";
import { ManualClock } from "../support/manual_clock.ts";

Deno.test("createSignalCounter() counts copies of a signal within a second as one", () => {
  const clock = new ManualClock();
  const count = createSignalCounter(clock);
  assertEquals([count(), count(), count()], ["first", "copy", "copy"]);
  clock.advance(SIGNAL_COPY_MS - 1);
  assertEquals(count(), "copy");
});

Deno.test("createSignalCounter() counts a signal after a second as the second", () => {
  const clock = new ManualClock();
  const count = createSignalCounter(clock);
  count();
  clock.advance(SIGNAL_COPY_MS - 1);
  count();
  clock.advance(1);
  assertEquals(count(), "second");
});

Deno.test("createSignalCounter() counts the second signal after the clock was set back", () => {
  const clock = new ManualClock();
  const count = createSignalCounter(clock);
  count();
  clock.set(clock.now() - 3_600_000);
  assertEquals(count(), "second");
});
