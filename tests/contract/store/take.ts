import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { Law } from "./law.ts";

/** The rate limit. */
export function takeLaws(law: Law): void {
  law("take() allows the burst at once, then one per interval", async ({ store, clock }) => {
    const terms = { perMs: 1_000, burst: 3, cost: 1 };
    for (let n = 0; n < 3; n++) assertEquals(await store.take("b", terms), { ok: true, waitMs: 0 });
    assertEquals(await store.take("b", terms), { ok: false, waitMs: 1_000 });
    clock.advance(999);
    assertEquals(await store.take("b", terms), { ok: false, waitMs: 1 });
    clock.advance(1);
    assert((await store.take("b", terms)).ok);
    assert(!(await store.take("b", terms)).ok);
  });

  law("take() keeps buckets separate, and a refusal takes nothing", async ({ store, clock }) => {
    const terms = { perMs: 100, burst: 1, cost: 1 };
    assert((await store.take("a", terms)).ok);
    assert((await store.take("b", terms)).ok);
    for (let n = 0; n < 20; n++) assertEquals((await store.take("a", terms)).waitMs, 100);
    clock.advance(100);
    assert((await store.take("a", terms)).ok);
  });

  law("take() takes the cost, and refuses one above the burst", async ({ store, clock }) => {
    const terms = { perMs: 10, burst: 5, cost: 5 };
    assert((await store.take("a", terms)).ok);
    assertEquals((await store.take("a", { ...terms, cost: 2 })).waitMs, 20);
    clock.advance(20);
    assert((await store.take("a", { ...terms, cost: 2 })).ok);
    await assertRejects(() => store.take("a", { ...terms, cost: 6 }), RangeError);
  });

  law("take() never waits longer than a whole refill, also when the clock was set back", async ({ store, clock }) => {
    const terms = { perMs: 1_000, burst: 4, cost: 1 };
    for (let n = 0; n < 4; n++) await store.take("a", terms);
    clock.set(clock.now() - 3_600_000);
    const { ok, waitMs } = await store.take("a", terms);
    assert(!ok && waitMs > 0 && waitMs <= 4_000);
    clock.advance(waitMs);
    assert((await store.take("a", terms)).ok);
  });

  law(
    "take() never allows more than the burst and the gained units, and waitMs is enough",
    async ({ store, clock }) => {
      const perMs = fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.double({ min: 0.01, max: 9_000, noNaN: true }));
      const terms = fc.record({ perMs, burst: fc.integer({ min: 1, max: 20 }) });
      const pauses = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 60 });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(terms, pauses, async ({ perMs, burst }, pauses) => {
          const bucket = `run ${run++}`;
          const start = clock.now();
          let taken = 0;
          for (const pause of pauses) {
            clock.advance(pause);
            const { ok, waitMs } = await store.take(bucket, { perMs, burst, cost: 1 });
            if (ok) taken++;
            assert(taken <= burst + (clock.now() - start) / perMs + 1e-3);
            if (ok) continue;
            assert(Number.isSafeInteger(waitMs) && waitMs > 0);
            clock.advance(waitMs);
            assert((await store.take(bucket, { perMs, burst, cost: 1 })).ok, "waiting was enough");
            taken++;
            assert(taken <= burst + (clock.now() - start) / perMs + 1e-3);
          }
        }),
        { numRuns: 60 },
      );
    },
  );
}
