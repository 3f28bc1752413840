import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { nextDelayMs, readRetryAfterMs, retryDelayMs } from "../../src/services/webhooks/backoff.ts";
import { itemAt } from "../support/items.ts";

const SECONDS = [5, 10, 20, 40, 80, 160, 320, 600, 600, 600];

Deno.test("retryDelayMs() doubles from five seconds and stays at ten minutes", () => {
  assertEquals(SECONDS.map((_, index) => retryDelayMs(index + 1, () => 0)), SECONDS.map((seconds) => seconds * 1_000));
});

Deno.test("retryDelayMs() adds up to 10 % jitter and never shortens", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (n, chance) => {
      const min = itemAt(SECONDS, n - 1) * 1_000;
      const delay = retryDelayMs(n, () => chance)!;
      assert(Number.isInteger(delay) && delay >= min && delay <= min * 1.1);
    }),
  );
});

Deno.test("retryDelayMs() allows ten retries", () => {
  assertEquals([retryDelayMs(10, () => 0), retryDelayMs(11, () => 0)], [600_000, null]);
  for (const n of [0, -1, 1.5, NaN]) assertThrows(() => retryDelayMs(n), RangeError);
});

Deno.test("a receiver's Retry-After lengthens a delay up to ten minutes and never shortens it", () => {
  const delays = [[1, null], [1, 1_000], [1, 30_000], [1, 3_600_000], [8, 30_000], [11, 30_000]] as const;
  assertEquals(delays.map(([n, requested]) => nextDelayMs(n, requested, () => 0)), [
    5_000,
    5_000,
    30_000,
    600_000,
    600_000,
    null,
  ]);
});

Deno.test("Retry-After is seconds or a future date; other values are ignored", () => {
  const now = Date.parse("2026-11-21T10:00:00Z");
  const fields = [
    "30",
    "0",
    "Sat, 21 Nov 2026 10:00:45 GMT",
    "Sat, 21 Nov 2026 09:00:00 GMT",
    "-3",
    "soon",
    "1e9",
    "",
    null,
  ];
  assertEquals(fields.map((field) => readRetryAfterMs(field, now)), [
    30_000,
    0,
    45_000,
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
});
