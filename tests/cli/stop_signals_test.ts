import { assertEquals } from "@std/assert";
import { atMostEverySecond, createSignalCounter, reloadAtSignal, SIGNAL_COPY_MS } from "../../src/cli/stop_signals.ts";
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

Deno.test("atMostEverySecond(): signals within a second after a call lead to one more at its end", () => {
  const clock = new ManualClock();
  const calls: number[] = [];
  const onSignal = atMostEverySecond(() => void calls.push(clock.now()), clock);
  const start = clock.now();
  onSignal();
  assertEquals(calls, [start]);
  clock.advance(SIGNAL_COPY_MS - 300);
  for (let copy = 0; copy < 3; copy++) onSignal();
  assertEquals(calls, [start], "it is delayed");
  clock.advance(300);
  assertEquals(calls, [start, start + SIGNAL_COPY_MS]);
  onSignal();
  clock.advance(SIGNAL_COPY_MS);
  assertEquals(calls, [start, start + SIGNAL_COPY_MS, start + 2 * SIGNAL_COPY_MS]);
  clock.advance(SIGNAL_COPY_MS);
  onSignal();
  assertEquals(calls.length, 4, "at once");
});

Deno.test("atMostEverySecond() calls at once after the clock was set back", () => {
  const clock = new ManualClock();
  let calls = 0;
  const onSignal = atMostEverySecond(() => void calls++, clock);
  onSignal();
  clock.set(clock.now() - 3_600_000);
  onSignal();
  assertEquals(calls, 2);
});

Deno.test("reloadAtSignal(): signals during a reload lead to one more after it, and a later signal to another", async () => {
  const reloads: PromiseWithResolvers<void>[] = [];
  const onSignal = reloadAtSignal(() => {
    const reload = Promise.withResolvers<void>();
    reloads.push(reload);
    return reload.promise;
  });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  for (let signal = 0; signal < 1_000; signal++) onSignal();
  assertEquals(reloads.length, 1);
  reloads[0]?.reject(new Error("the file is broken"));
  await settled();
  assertEquals(reloads.length, 2, "the signals of the first reload announced a change");
  reloads[1]?.resolve();
  await settled();
  assertEquals(reloads.length, 2);
  onSignal();
  assertEquals(reloads.length, 3);
  reloads[2]?.resolve();
  await settled();
  assertEquals(reloads.length, 3);
});
