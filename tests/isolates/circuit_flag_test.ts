import { assertEquals } from "@std/assert";
import { CircuitFlag } from "../../src/isolates/circuit_flag.ts";
import { flaggedBreaker } from "../../src/isolates/flagged_breaker.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../../src/routing/circuit_breaker.ts";
import { UpstreamFailure } from "../../src/upstreams/failure.ts";
import { ManualClock } from "../support/manual_clock.ts";

const TARGET = { provider: "acme", model: "m" };

function stage() {
  const clock = new ManualClock();
  const breaker = createCircuitBreaker({ clock, onFailure: () => flag.onFailure() });
  const flag: CircuitFlag = new CircuitFlag(breaker, clock);
  let questions = 0;
  const asked: CircuitBreaker = {
    availabilityOf(target, accountId) {
      questions++;
      return breaker.availabilityOf(target, accountId);
    },
    onStart: (target, accountId) => breaker.onStart(target, accountId),
    health: () => breaker.health(),
  };
  const flagged = flaggedBreaker(asked, flag.buffer, clock);
  const fail = () =>
    breaker.onStart(TARGET, "a").failed(
      new UpstreamFailure("acme", "unreachable", "refused", { status: null, accepted: "no" }),
    );
  return { clock, flagged, flag, fail, questions: () => questions };
}

Deno.test("circuit flag: nothing is asked while all circuits are closed", async () => {
  const { clock, flagged, flag, fail, questions } = stage();
  assertEquals(flagged.availabilityOf(TARGET, "a"), "available");
  fail();
  await clock.advance(1_000);
  assertEquals([flagged.availabilityOf(TARGET, "a"), questions()], ["available", 0]);
  flag.close();
});

Deno.test("circuit flag: an open circuit is asked for until it closes", async () => {
  const { clock, flagged, flag, fail, questions } = stage();
  for (let failure = 0; failure < 5; failure++) fail();
  assertEquals([flagged.availabilityOf(TARGET, "a"), questions()], ["resting", 1]);
  await clock.advance(11_000);
  flagged.onStart(TARGET, "a").succeeded();
  await clock.advance(1_000);
  assertEquals([flagged.availabilityOf(TARGET, "a"), questions()], ["available", 1]);
  flag.close();
});

Deno.test("circuit flag: a thread asks after a failure of its own, which the main thread may not know yet", async () => {
  const { clock, flagged, flag, questions } = stage();
  flagged.onStart(TARGET, "a").failed(new Error("unexpected"));
  flagged.availabilityOf(TARGET, "a");
  assertEquals(questions(), 1);
  await clock.advance(250);
  flagged.availabilityOf(TARGET, "a");
  assertEquals(questions(), 1);
  flag.close();
});
