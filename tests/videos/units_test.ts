import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { writeMoney } from "../../src/platform/lib/basics/money.ts";
import { modeOf } from "../../src/services/videos/request/mode.ts";
import { nextPollMs } from "../../src/services/videos/tasks/poll_schedule.ts";
import { usageOf } from "../../src/services/videos/tasks/measured_usage.ts";
import { isTaskId, newTaskId } from "../../src/services/videos/tasks/task_id.ts";
import { itemAt } from "../support/items.ts";

Deno.test("task ids are UUIDs version 7 in order of creation, even if the clock moves backwards", () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => newTaskId(1_800_000_000_000 + (n % 7) - n % 3));
  assertEquals(ids.toSorted(), ids);
  assertEquals(new Set(ids).size, ids.length);
  assert(ids.every(isTaskId));
  assert(!isTaskId(itemAt(ids, 0).toUpperCase()) && !isTaskId(`${ids[0]}0`) && !isTaskId("abc"));
});

Deno.test("modeOf() returns the five modes; any audio or video reference means mixref2video", () => {
  assertEquals(modeOf(false, false, []), "text2video");
  assertEquals(modeOf(true, false, []), "img2video");
  assertEquals(modeOf(true, true, []), "img2video_end");
  assertEquals(modeOf(false, false, ["image", "image"]), "imgref2video");
  assertEquals(modeOf(false, false, ["audio"]), "mixref2video");
  assertEquals(modeOf(false, false, ["image", "video"]), "mixref2video");
});

const SCHEDULE = { firstMs: 10_000, minMs: 5_000, maxMs: 30_000, perSecond: 20 };

Deno.test("nextPollMs() starts at ten seconds, then returns a tenth of the age between five and thirty seconds", () => {
  const at = (ageMs: number, retryAfter?: number) => nextPollMs(SCHEDULE, ageMs, retryAfter, () => 0.5);
  assertEquals([0, 10_000, 120_000, 240_000, 3_600_000].map((age) => at(age)), [10_000, 5_000, 12_000, 24_000, 30_000]);
  assertEquals([at(10_000, 60), at(10_000, 1), at(10_000, 1e9), at(10_000, -5)], [60_000, 5_000, 3_600_000, 5_000]);
});

Deno.test("nextPollMs() stays between 90 % of the minimum and 110 % of the maximum interval", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e8 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (age, random) => {
      const ms = nextPollMs(SCHEDULE, age, undefined, () => random);
      return ms >= 4_500 && ms <= 33_000;
    }),
  );
});

const PRICE = { perSecond: 10n ** 17n, seconds: 5, mostSeconds: 12, estimate: 5_000_000_000n, held: true };
const costOf = (seconds: number | null, costUsd?: string | null) => {
  const { seconds: used, cost, implausibleSeconds } = usageOf(PRICE, {
    seconds,
    ...(costUsd === undefined ? {} : { costUsd }),
  });
  return [used, writeMoney(cost), implausibleSeconds];
};

Deno.test("usageOf() uses the vendor's seconds if they differ by a second or more, and rounds money once, half up", () => {
  assertEquals(costOf(null), [5, "0.5000000000", null]);
  assertEquals([5.056, 4.2, 0, NaN, -1, Infinity].map((seconds) => costOf(seconds)[0]), [5, 5, 5, 5, 5, 5]);
  assertEquals(costOf(3.5), [3.5, "0.3500000000", null]);
  assertEquals(usageOf({ ...PRICE, perSecond: 10_000_000n }, { seconds: null }).cost, 1n);
  assertEquals(usageOf({ ...PRICE, perSecond: 9_999_999n }, { seconds: null }).cost, 0n);
});

Deno.test("usageOf() caps reports at the model's maximum duration, and in earlier records at the held duration", () => {
  assertEquals(costOf(12.04), [12, "1.2000000000", null]);
  assertEquals(costOf(60), [12, "1.2000000000", 60]);
  const { mostSeconds: _, ...earlier } = PRICE;
  assertEquals(usageOf(earlier, { seconds: 9 }), { seconds: 5, cost: 5_000_000_000n, implausibleSeconds: 9 });
});

Deno.test("usageOf() uses any reported duration if the vendor decides it", () => {
  const open = { ...PRICE, seconds: 12, isOpen: true };
  assertEquals([11.5, 12, 0.4].map((seconds) => usageOf(open, { seconds }).seconds), [11.5, 12, 0.4]);
  assertEquals(usageOf(open, { seconds: null }).seconds, 12);
});

Deno.test("usageOf() uses a vendor's cost above the price if no seconds are reported, capped at the maximum duration", () => {
  assertEquals(costOf(null, "0.81"), [5, "0.8100000000", null]);
  assertEquals(costOf(null, "0.31"), [5, "0.5000000000", null]);
  assertEquals(costOf(null, "99.00000000000000000001"), [5, "1.2000000000", null]);
  assertEquals(costOf(5, "0.81"), [5, "0.5000000000", null]);
  for (const odd of ["", "-1", "1e3", "NaN", "99999999", "0x9"]) assertEquals(costOf(null, odd)[1], "0.5000000000");
  assertEquals(usageOf({ ...PRICE, perSecond: 0n }, { seconds: null, costUsd: "0.81" }).cost, 0n);
});
