import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";
import { sharedStoreClock, SharedStoreTime } from "../../src/threads/state/shared_store_time.ts";
import { HOST_CLOCKS } from "../support/host_clock.ts";
import { ManualClock } from "../support/manual_clock.ts";

for (const [name, aheadMs] of Object.entries(HOST_CLOCKS)) {
  Deno.test(`by ${name}: a thread has the time of the store`, () => {
    const store = { now: () => storeTimeOf(Date.now() - aheadMs) };
    const time = new SharedStoreTime(store, systemClock);
    const now = sharedStoreClock(time.buffer);
    const before = store.now();
    const read = now();
    assert(read >= before - 1 && read <= store.now() + 1, `${read - before}`); // rounded, and a moment passed
    time.close();
  });
}

Deno.test("a thread has the time of the store a second after that was set", () => {
  const clock = new ManualClock(Date.now());
  let aheadMs = 0;
  const time = new SharedStoreTime({ now: () => storeTimeOf(clock.now() + aheadMs) }, clock);
  const shared = new BigInt64Array(time.buffer);
  aheadMs = -7_200_000;
  clock.advance(999);
  assertEquals(shared[0], 0n);
  clock.advance(1);
  assertEquals(shared[0], -7_200_000n);
  time.close();
  assertEquals(clock.waiting, 0);
});
