import { assertEquals } from "@std/assert";
import { CircuitFlag } from "../../src/threads/serving/circuit_flag.ts";
import { flaggedBreaker } from "../../src/threads/serving/flagged_breaker.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { ManualClock } from "../support/manual_clock.ts";

const TARGET = { provider: "acme", model: "m" };

function stage() {
  const clock = new ManualClock();
  const breaker = createCircuitBreaker({ clock, onFailure: () => flag.onFailure() });
  const flag: CircuitFlag = new CircuitFlag(breaker, clock);
  let questions = 0;
  let started = 0;
  const asked: CircuitBreaker = {
    availabilityOf(target, accountId) {
      questions++;
      return breaker.availabilityOf(target, accountId);
    },
    onStart(target, accountId) {
      started++;
      return breaker.onStart(target, accountId);
    },
    health: () => breaker.health(),
  };
  const flagged = flaggedBreaker({ shared: asked, flag: flag.buffer, clock, onSuccess() {} });
  const fail = () =>
    breaker.onStart(TARGET, "a").failed(
      new UpstreamFailure("acme", "unreachable", "refused", { status: null, accepted: "no" }),
    );
  return { clock, breaker, flagged, flag, fail, questions: () => questions, started: () => started };
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

Deno.test("circuit flag: while no attempt has failed, only the number of successes is told", async () => {
  const { clock, flagged, flag, fail, breaker, started } = stage();
  for (let n = 0; n < 3; n++) flagged.onStart(TARGET, "a").succeeded();
  assertEquals(started(), 0);
  assertEquals(flagged.takeSuccesses(), [{ target: TARGET, accountId: "a", count: 3 }]);
  assertEquals(flagged.takeSuccesses(), []);
  breaker.noteSuccesses(TARGET, "a", 3);
  assertEquals(breaker.health()[0]?.models[0]?.succeeded, 3);
  fail();
  flagged.onStart(TARGET, "a").succeeded(); // it ends a row of failures
  assertEquals([started(), flagged.takeSuccesses()], [1, []]);
  await clock.advance(61_000);
  flagged.onStart(TARGET, "a").succeeded();
  assertEquals(started(), 1);
  flag.close();
});

Deno.test("circuit flag: failures of a thread open a circuit as those of the main thread", () => {
  const { flagged, flag, breaker } = stage();
  for (let n = 0; n < 5; n++) {
    flagged.onStart(TARGET, "a").failed(
      new UpstreamFailure("acme", "unreachable", "refused", { status: null, accepted: "no" }),
    );
  }
  assertEquals(breaker.availabilityOf(TARGET, "b"), "resting");
  flag.close();
});
