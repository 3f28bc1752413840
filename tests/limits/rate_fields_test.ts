import { assertEquals } from "@std/assert";
import { addDefaultRateFields, addMessageRateFields, durationOf } from "../../src/money/limits/rate_fields.ts";

const LEFT = {
  requests: { limit: 60, left: 12, fullInMs: 48_000 },
  tokens: { limit: 9_000, left: 0, fullInMs: 90_500 },
};

Deno.test("durationOf() writes durations as Go does", () => {
  const durations = [0, 1, 999, 1_000, 1_500, 60_000, 360_000, 3_600_000, 3_661_001].map(durationOf);
  assertEquals(durations, ["0s", "1ms", "999ms", "1s", "1.5s", "1m0s", "6m0s", "1h0m0s", "1h1m1.001s"]);
});

Deno.test("the default protocol's fields have durations, and only those of limits that exist", () => {
  const fields = {};
  addDefaultRateFields(fields, LEFT);
  assertEquals(fields, {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "12",
    "x-ratelimit-reset-requests": "48s",
    "x-ratelimit-limit-tokens": "9000",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "1m30.5s",
  });
  const none = {};
  addDefaultRateFields(none, {});
  assertEquals(none, {});
});

Deno.test("the message protocol's fields have instants, rounded up to a second", () => {
  const fields = {};
  addMessageRateFields(fields, LEFT, Date.parse("2026-11-22T12:00:00.200Z"));
  assertEquals(fields, {
    "anthropic-ratelimit-requests-limit": "60",
    "anthropic-ratelimit-requests-remaining": "12",
    "anthropic-ratelimit-requests-reset": "2026-11-22T12:00:49Z",
    "anthropic-ratelimit-tokens-limit": "9000",
    "anthropic-ratelimit-tokens-remaining": "0",
    "anthropic-ratelimit-tokens-reset": "2026-11-22T12:01:31Z",
  });
});
