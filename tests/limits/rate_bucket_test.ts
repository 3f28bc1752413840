import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { RateBucket } from "../../src/money/limits/rate_bucket.ts";

const MINUTE = 60_000;

/** Uses one unit if the bucket has one. */
function takes(bucket: RateBucket, now: number): boolean {
  if (bucket.waitMs(1, now) > 0) return false;
  bucket.use(1, now);
  return true;
}

/** Whether amounts at instants keep a limit per minute with a burst of one minute's amount, in every window. */
function conforms(amounts: readonly { readonly at: number; readonly amount: number }[], perMinute: number): boolean {
  return amounts.every(({ at: since }, from) => {
    let sum = 0;
    return amounts.slice(from).every(({ at, amount }) => {
      sum += amount;
      return sum * MINUTE <= perMinute * MINUTE + perMinute * (at - since);
    });
  });
}

Deno.test("a bucket gives a minute's amount at once, then one unit in each part of a minute", () => {
  const bucket = new RateBucket(60, 5);
  assertEquals(Array.from({ length: 70 }, () => takes(bucket, 5)).filter(Boolean).length, 60);
  assertEquals(bucket.waitMs(1, 5), 1_000);
  assert(!takes(bucket, 1_004));
  assert(takes(bucket, 1_005));
  assertEquals([bucket.leftAt(1_005), bucket.fullInMs(1_005)], [0, MINUTE]);
});

Deno.test("a bucket never gives more than its limit, and never less, in any window and for any limit", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 80 });
  fc.assert(fc.property(fc.integer({ min: 1, max: 1_000 }), steps, (perMinute, pauses) => {
    const bucket = new RateBucket(perMinute, 0);
    const taken: { at: number; amount: number }[] = [];
    let now = 0;
    for (const pause of pauses) {
      now += pause;
      const waitMs = bucket.waitMs(1, now);
      if (takes(bucket, now)) taken.push({ at: now, amount: 1 });
      else {
        assert(!takes(bucket, now + waitMs - 1), "a millisecond before the end of the wait");
        now += waitMs;
        assert(takes(bucket, now), "at the end of the wait");
        taken.push({ at: now, amount: 1 });
      }
    }
    assert(conforms(taken, perMinute));
  }));
});

Deno.test("a limit of a million a minute is exact", () => {
  const bucket = new RateBucket(1_000_000, 0);
  bucket.use(1_000_000, 0);
  assertEquals(bucket.waitMs(1, 0), 1);
  assertEquals([bucket.leftAt(1), bucket.leftAt(3), bucket.leftAt(60_000)], [16, 50, 1_000_000]);
});

Deno.test("what is used within reservations keeps the limit in every window, and a release returns everything", () => {
  const call = fc.record({ pause: fc.nat(30_000), units: fc.integer({ min: 1, max: 150 }), part: fc.nat(100) });
  fc.assert(fc.property(fc.array(call, { maxLength: 60 }), fc.integer({ min: 1, max: 120 }), (calls, perMinute) => {
    const bucket = new RateBucket(perMinute, 0);
    const used: { at: number; amount: number }[] = [];
    const open: { reserved: number; part: number }[] = [];
    const settleFirst = (now: number) => {
      const { reserved, part } = open.shift()!;
      const amount = Math.floor(reserved * part / 100);
      const before = bucket.leftAt(now);
      bucket.settle(reserved, amount, now);
      if (amount === 0) assertEquals(bucket.leftAt(now), Math.min(perMinute, before + reserved));
      used.push({ at: now, amount });
    };
    let now = 0;
    for (const { pause, units, part } of calls) {
      now += pause;
      if (part % 3 === 0 && open.length > 0) settleFirst(now);
      if (bucket.waitMs(units, now) > 0) continue;
      open.push({ reserved: bucket.reserve(units), part });
    }
    while (open.length > 0) settleFirst(now += 100);
    assert(conforms(used, perMinute));
    assertEquals(bucket.leftAt(now + MINUTE), perMinute);
    assert(bucket.isFull(now + MINUTE));
  }));
});

Deno.test("a request above the limit is admitted with a full bucket only", () => {
  const bucket = new RateBucket(100, 0);
  assertEquals(bucket.waitMs(5_000, 0), 0);
  assertEquals(bucket.reserve(5_000), 100);
  assertEquals(bucket.waitMs(1, 0), 600);
  bucket.settle(100, 40, 0);
  assertEquals(bucket.waitMs(5_000, 0), 24_000);
  assertEquals(bucket.waitMs(5_000, 24_000), 0);
});

Deno.test("more than was reserved is owed, for an hour at most", () => {
  const bucket = new RateBucket(100, 0);
  bucket.settle(bucket.reserve(10), 250, 0);
  assertEquals([bucket.leftAt(0), bucket.waitMs(1, 0), bucket.fullInMs(0)], [0, 90_600, 150_000]);
  bucket.settle(bucket.reserve(10), 1e10, 0);
  assertEquals([bucket.waitMs(1, 0), bucket.leftAt(61 * MINUTE)], [60 * MINUTE + 600, 100]);
});

Deno.test("a changed limit keeps what is used and reserved", () => {
  const bucket = new RateBucket(60, 0);
  bucket.use(30, 0);
  bucket.reserve(20);
  bucket.setLimit(120, 0);
  assertEquals(bucket.leftAt(0), 70);
  bucket.setLimit(30, 0);
  assertEquals([bucket.leftAt(0), bucket.fullInMs(0)], [0, 100_000]);
  bucket.settle(20, 0, 0);
  assertEquals([bucket.leftAt(0), bucket.waitMs(1, 0)], [0, 2_000]);
});

Deno.test("a limit of zero gives nothing", () => {
  const bucket = new RateBucket(0, 0);
  assertEquals([bucket.waitMs(1, 0), bucket.leftAt(0), bucket.fullInMs(0)], [MINUTE, 0, 0]);
});
