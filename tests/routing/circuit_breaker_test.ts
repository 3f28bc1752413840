import { assertEquals } from "@std/assert";
import { createCircuitBreaker } from "../../src/routing/circuit_breaker.ts";
import { ManualClock } from "../support/manual_clock.ts";

function broken(failures: number) {
  const clock = new ManualClock();
  const breaker = createCircuitBreaker({ clock, failuresToOpen: 3, restMs: 1000, longestRestMs: 4000 });
  for (let count = 0; count < failures; count++) breaker.failed("acme");
  return { clock, breaker };
}

Deno.test("circuit breaker rests a provider after failures in a row, and not before", () => {
  assertEquals(broken(2).breaker.isResting("acme"), false);
  assertEquals(broken(3).breaker.isResting("acme"), true);
});

Deno.test("circuit breaker forgets failures at a success", () => {
  const { breaker } = broken(2);
  breaker.succeeded("acme");
  breaker.failed("acme");
  assertEquals(breaker.isResting("acme"), false);
});

Deno.test("circuit breaker lets one probe through at the end of a rest", () => {
  const { clock, breaker } = broken(3);
  clock.advance(1000);
  assertEquals(breaker.isResting("acme"), false);
  breaker.begins("acme");
  assertEquals(breaker.isResting("acme"), true);
  assertEquals(breaker.health()[0].state, "half_open");
  breaker.succeeded("acme");
  assertEquals(breaker.isResting("acme"), false);
});

Deno.test("circuit breaker doubles the rest at a failed probe, up to its longest", () => {
  const { clock, breaker } = broken(3);
  for (const restMs of [1000, 2000, 4000, 4000]) {
    clock.advance(restMs - 1);
    assertEquals(breaker.isResting("acme"), true);
    clock.advance(1);
    assertEquals(breaker.isResting("acme"), false);
    breaker.begins("acme");
    breaker.failed("acme");
  }
});

Deno.test("circuit breaker lets the next probe through when one said nothing", () => {
  const { clock, breaker } = broken(3);
  clock.advance(1000);
  breaker.begins("acme");
  breaker.saidNothing("acme");
  assertEquals(breaker.isResting("acme"), false);
});

Deno.test("circuit breaker keeps providers apart", () => {
  assertEquals(broken(3).breaker.isResting("other"), false);
});

Deno.test("circuit breaker counts successes and failures since the start, also when a success closes it", () => {
  const { clock, breaker } = broken(3);
  const failedAt = clock.now();
  clock.advance(1000);
  breaker.begins("acme");
  breaker.succeeded("acme");
  breaker.begins("acme");
  breaker.saidNothing("acme");
  breaker.succeeded("other");
  assertEquals(breaker.health(), [
    {
      provider: "acme",
      state: "closed",
      failuresInARow: 0,
      restsUntil: null,
      succeeded: 1,
      failed: 3,
      lastFailedAt: failedAt,
    },
    {
      provider: "other",
      state: "closed",
      failuresInARow: 0,
      restsUntil: null,
      succeeded: 1,
      failed: 0,
      lastFailedAt: null,
    },
  ]);
});

Deno.test("circuit breaker rests a provider as briefly as at first once a success closed it", () => {
  const { clock, breaker } = broken(3);
  clock.advance(1000);
  breaker.begins("acme");
  breaker.failed("acme");
  breaker.succeeded("acme");
  for (let count = 0; count < 3; count++) breaker.failed("acme");
  assertEquals(breaker.health()[0].restsUntil, clock.now() + 1000);
});
