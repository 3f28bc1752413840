import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { bytesOfDataUri } from "../../src/videos/data_uri.ts";
import { modeOf } from "../../src/videos/mode.ts";
import { nextPollMs, USUAL_SCHEDULE } from "../../src/videos/poll_schedule.ts";
import { usageOf } from "../../src/videos/price.ts";
import { Seats } from "../../src/videos/seats.ts";
import { isTaskId, newTaskId } from "../../src/videos/task_id.ts";

Deno.test("ids of tasks are UUIDs of version 7 that sort as they were made, also when the clock goes back", () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => newTaskId(1_800_000_000_000 + (n % 7) - n % 3));
  assertEquals(ids.toSorted(), ids);
  assertEquals(new Set(ids).size, ids.length);
  assert(ids.every(isTaskId));
  assert(!isTaskId(ids[0].toUpperCase()) && !isTaskId(`${ids[0]}0`) && !isTaskId("abc"));
});

Deno.test("modeOf() tells the five modes apart; any sound or video among references mixes them", () => {
  assertEquals(modeOf(false, false, []), "text2video");
  assertEquals(modeOf(true, false, []), "img2video");
  assertEquals(modeOf(true, true, []), "img2video_end");
  assertEquals(modeOf(false, false, ["image", "image"]), "imgref2video");
  assertEquals(modeOf(false, false, ["audio"]), "mixref2video");
  assertEquals(modeOf(false, false, ["image", "video"]), "mixref2video");
});

Deno.test("nextPollMs() begins after ten seconds, then looks at a tenth of the age between five and thirty", () => {
  const at = (ageMs: number, retryAfter?: number) => nextPollMs(USUAL_SCHEDULE, ageMs, retryAfter, () => 0.5);
  assertEquals([0, 10_000, 120_000, 240_000, 3_600_000].map((age) => at(age)), [10_000, 5_000, 12_000, 24_000, 30_000]);
  assertEquals([at(10_000, 60), at(10_000, 1), at(10_000, 1e9), at(10_000, -5)], [60_000, 5_000, 3_600_000, 5_000]);
});

Deno.test("nextPollMs() never asks sooner than nine tenths of the least distance, nor later than eleven tenths of the longest", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e8 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (age, random) => {
      const ms = nextPollMs(USUAL_SCHEDULE, age, undefined, () => random);
      return ms >= 4_500 && ms <= 33_000;
    }),
  );
});

Deno.test("usageOf() takes the vendor's seconds when they differ by a second or more, and rounds money once, half up", () => {
  const price = { perSecond: 10n ** 17n, seconds: 5, estimate: 0n, held: true };
  assertEquals(usageOf(price, null), { seconds: 5, cost: 5_000_000_000n });
  assertEquals(usageOf(price, 5.056).seconds, 5);
  assertEquals(usageOf(price, 4.2).seconds, 5);
  assertEquals(usageOf(price, 3.5), { seconds: 3.5, cost: 3_500_000_000n });
  assertEquals([usageOf(price, NaN).seconds, usageOf(price, -1).seconds, usageOf(price, Infinity).seconds], [5, 5, 5]);
  assertEquals(usageOf({ ...price, perSecond: 10_000_000n, seconds: 5 }, null).cost, 1n);
  assertEquals(usageOf({ ...price, perSecond: 9_999_999n, seconds: 5 }, null).cost, 0n);
});

Deno.test("bytesOfDataUri() undoes base64 for all bytes, and refuses whatever is malformed", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
    assertEquals(bytesOfDataUri(`data:image/png;base64,${bytes.toBase64()}`), new Uint8Array(bytes));
  }));
  for (
    const bad of [
      "data:,",
      "data:image/png;base64,",
      "data:image/png;base64,@@",
      "data:image/png;base64,abc",
      "data:image/png,abcd",
      "data:image/png;base64,ab=d",
      "data",
    ]
  ) {
    assertEquals(bytesOfDataUri(bad), null, bad);
  }
});

Deno.test("Seats gives each provider its own number of calls, and tells those it sends away instants in a row", async () => {
  const seats = new Seats(2);
  const gate = Promise.withResolvers<string>();
  const first = [seats.with("a", () => gate.promise), seats.with("a", () => gate.promise)];
  assertEquals(await seats.with("a", () => Promise.resolve("third")), null);
  assertEquals(await seats.with("b", () => Promise.resolve("other")), "other");
  assertEquals([seats.comeBackAt("a", 0), seats.comeBackAt("a", 0), seats.comeBackAt("b", 0)], [1_000, 1_005, 1_000]);
  for (let call = 0; call < 100_000; call++) seats.comeBackAt("a", 0);
  assertEquals([seats.comeBackAt("a", 0), seats.comeBackAt("a", 500_000)], [60_000, 501_000]);
  gate.resolve("done");
  assertEquals(await Promise.all(first), ["done", "done"]);
  assertEquals(await seats.with("a", () => Promise.resolve("third")), "third");
});
