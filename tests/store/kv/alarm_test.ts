import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { QueueAlarms } from "../../../src/platform/store/kv/queue_alarms.ts";
import { WakeListeners } from "../../../src/platform/store/wake_listeners.ts";
import type { KvStore } from "../../../src/platform/store/kv/kv_store.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { type KvFaults, openFaultyKv } from "./faulty_kv.ts";
import { ManualClock, until } from "../../support/manual_clock.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

async function withStore(faults: KvFaults, run: (store: KvStore, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = new ManualClock();
  const store = await openKvStore({ path: ":memory:", clock, log: silentLog, openKv: openFaultyKv(faults) });
  try {
    await run(store, clock);
  } finally {
    await store.close();
  }
}

/** Records what is enqueued. */
function notebook(): { atomic: Deno.AtomicOperation; delays: (number | undefined)[] } {
  const delays: (number | undefined)[] = [];
  const atomic = { enqueue: (_: unknown, options: { delay?: number }) => void delays.push(options.delay) };
  return { atomic: atomic as unknown as Deno.AtomicOperation, delays };
}

Deno.test("a queue message wakes its kind without a timer", async () => {
  // The clock runs as the system's, but its timers never fire.
  const clock = { ...systemClock, after: () => () => {} };
  const store = await openKvStore({ path: ":memory:", clock, log: silentLog });
  try {
    const woken = new Promise<string>((resolve) => store.onWake(resolve));
    await store.commit(null, { addJobs: [{ kind: "deliver", ref: "t", dueAt: storeTimeOf(clock.now() + 1) }] });
    assertEquals(await woken, "deliver");
    assertEquals((await store.claim(["deliver"], 1, 1_000)).map(({ ref }) => ref), ["t"]);
  } finally {
    await store.close();
  }
});

Deno.test("wakeOverdueJobs() replaces a lost wake-up", async () => {
  await withStore({ copiesOfMessages: 0 }, async (store, clock) => {
    const woken: string[] = [];
    store.onWake((kind) => woken.push(kind));
    const add = [{ kind: "poll", ref: "t", dueAt: storeTimeOf(clock.now() + 90_000) }, {
      kind: "far",
      ref: "t",
      dueAt: storeTimeOf(clock.now() + 1e9),
    }];
    await store.commit(null, { addJobs: add });
    clock.advance(90_000);
    assertEquals(woken, []);
    assertEquals(await store.wakeOverdueJobs(), 1);
    assertEquals(woken, ["poll"]);
    assertEquals((await store.claim(["poll"], 9, 1_000)).length, 1);
    assertEquals(await store.wakeOverdueJobs(), 0);
  });
});

Deno.test("wakeOverdueJobs() sets the timer of a job that is due soon", async () => {
  await withStore({ copiesOfMessages: 0 }, async (store, clock) => {
    const woken: number[] = [];
    store.onWake(() => woken.push(clock.now()));
    const dueAt = clock.now() + 90_000;
    await store.commit(null, { addJobs: [{ kind: "poll", ref: "t", dueAt: storeTimeOf(dueAt) }] });
    clock.advance(60_000);
    await store.wakeOverdueJobs();
    clock.advance(60_000);
    assertEquals(woken, [dueAt]);
  });
});

Deno.test("a claim sets the timer of the next job", async () => {
  await withStore({ copiesOfMessages: 0 }, async (store, clock) => {
    const dueAt = clock.now() + 90_000;
    await store.commit(null, { addJobs: [{ kind: "poll", ref: "t", dueAt: storeTimeOf(dueAt) }] });
    clock.advance(60_000);
    assertEquals(await store.claim(["poll"], 1, 1_000), []);
    const woken: number[] = [];
    store.onWake(() => woken.push(clock.now()));
    clock.advance(60_000);
    assertEquals(woken, [dueAt]);
  });
});

Deno.test("a repeated or late wake-up gives the job to one worker", async () => {
  await withStore({ copiesOfMessages: 2 }, async (store, clock) => {
    const claims: Promise<{ ref: string }[]>[] = [];
    store.onWake((kind) => claims.push(store.claim([kind], 9, 30_000)));
    clock.advance(998); // messages are due on whole seconds
    await store.commit(null, { addJobs: [{ kind: "poll", ref: "t", dueAt: storeTimeOf(clock.now() + 1) }] });
    clock.advance(54_000);
    await until(() => claims.length >= 2);
    assertEquals((await Promise.all(claims)).flat().length, 1);
  });
});

Deno.test("wakeOverdueJobs() finds overdue jobs of kinds with any name", async () => {
  await withStore({}, async (store, clock) => {
    const kinds = ["", "a", "a\0", "a\0b", "ab", "ž", "🐎"];
    await store.commit(null, {
      addJobs: kinds.map((kind) => ({ kind, ref: "t", dueAt: storeTimeOf(clock.now() + 1) })),
    });
    clock.set(clock.now() + 1);
    const woken: string[] = [];
    store.onWake((kind) => woken.push(kind));
    assertEquals(await store.wakeOverdueJobs(), kinds.length);
    for (const kind of kinds) assert(woken.includes(kind));
  });
});

Deno.test("one queue message serves all jobs of a kind within a second", () => {
  const clock = new ManualClock(1_000_000);
  const alarms = new QueueAlarms(clock);
  const { atomic, delays } = notebook();
  const at = (...dues: number[]) => dues.map((dueAt) => ({ kind: "poll", dueAt }));
  alarms.enqueue(atomic, at(1_061_001, 1_061_500, 1_062_000, 1_062_001))();
  assertEquals(delays, [62_000, 63_000]);
  alarms.enqueue(atomic, at(1_061_700, 1_000_000, 999_000))();
  assertEquals(delays.length, 2, "no second message, and none for what is due already");
  alarms.enqueue(atomic, [{ kind: "other", dueAt: storeTimeOf(1_061_700) }])();
  assertEquals(delays.length, 3);
});

Deno.test("a queue message whose write failed is enqueued again", () => {
  const alarms = new QueueAlarms(new ManualClock(0));
  const { atomic, delays } = notebook();
  alarms.enqueue(atomic, [{ kind: "poll", dueAt: storeTimeOf(500) }]);
  alarms.enqueue(atomic, [{ kind: "poll", dueAt: storeTimeOf(500) }])();
  alarms.enqueue(atomic, [{ kind: "poll", dueAt: storeTimeOf(500) }])();
  assertEquals(delays, [1_000, 1_000]);
});

Deno.test("a queue message is never delayed longer than the queue allows", async () => {
  await withStore({}, async (store, clock) => {
    const result = await store.commit(null, {
      addJobs: [{ kind: "k", ref: "t", dueAt: storeTimeOf(clock.now() + 400 * 86_400_000) }],
    });
    assert(result.ok);
  });
});

Deno.test("a timer that fires early, or before the clock was set back, is set again", () => {
  const clock = new ManualClock(0);
  const wakes = new WakeListeners(clock, silentLog);
  const woken: number[] = [];
  wakes.listen(() => woken.push(clock.now()));
  wakes.wakeAt({ kind: "poll", dueAt: storeTimeOf(500) });
  wakes.wakeAt({ kind: "poll", dueAt: storeTimeOf(500) });
  clock.set(-10_000);
  clock.advance(10_499); // the old timer fires on its way, too early by the clock
  assertEquals(woken, []);
  clock.advance(1);
  assertEquals(woken, [500]);
  wakes.close();
});
