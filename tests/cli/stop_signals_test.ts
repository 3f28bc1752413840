import { assertEquals } from "@std/assert";
import {
  createSignalCounter,
  hangupListener,
  reloadAtSignal,
  SIGNAL_COPY_MS,
} from "../../src/entry/cli/process/stop_signals.ts";
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

Deno.test("hangupListener() passes on the first signal at once, and those within a second as one more", () => {
  const clock = new ManualClock();
  let calls = 0;
  const onHangup = hangupListener(clock, () => void calls++);
  onHangup();
  assertEquals(calls, 1);
  clock.advance(SIGNAL_COPY_MS / 2);
  onHangup(); // announces a change that the first reload did not read
  onHangup();
  assertEquals(calls, 1);
  clock.advance(SIGNAL_COPY_MS / 2);
  assertEquals(calls, 2);
  clock.advance(10 * SIGNAL_COPY_MS);
  assertEquals(calls, 2);
  onHangup();
  assertEquals(calls, 3);
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
