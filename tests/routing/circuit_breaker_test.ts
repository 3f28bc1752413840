import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { itemAt } from "../support/items.ts";
import { failureOf, NO_CONNECTION, openTestBreaker, SERVICE_FAILURES, type TestBreaker } from "./support.ts";

const CIRCUIT = { provider: "acme", model: "m" };

/** A circuit that is open for all accounts, as two accounts saw failures. */
function open(): TestBreaker {
  const stage = openTestBreaker();
  stage.fail("a");
  stage.fail("b");
  stage.fail("a");
  return stage;
}

for (const [name, failure] of Object.entries(SERVICE_FAILURES)) {
  Deno.test(`circuit breaker opens for all accounts at "${name}" after two accounts had failures in a row`, () => {
    const { fail, isResting } = openTestBreaker();
    fail("a", failure);
    fail("b", failure);
    assertEquals(isResting("a"), false);
    fail("a", failure);
    assertEquals([isResting("a"), isResting("b"), isResting("c")], [true, true, true]);
  });

  Deno.test(`circuit breaker stays closed at "${name}" of one account while another uses the provider`, () => {
    const { fail, succeed, isResting } = openTestBreaker();
    succeed("b");
    for (let time = 0; time < 20; time++) fail("a", failure);
    assertEquals([isResting("a"), isResting("b")], [false, false]);
  });

  Deno.test(`circuit breaker opens at "${name}" only for an account that is all the traffic`, () => {
    const { fail, isResting } = openTestBreaker();
    for (let time = 0; time < 3; time++) fail("a", failure);
    assertEquals([isResting("a"), isResting("b")], [true, false]);
  });
}

Deno.test("circuit breaker opens for all models and accounts at failures to connect of any account", () => {
  const { fail, succeed, isResting } = openTestBreaker();
  succeed("b");
  for (const model of ["m", "m", "other"]) fail("a", NO_CONNECTION, model);
  assertEquals([isResting("a"), isResting("b"), isResting("c", "never tried")], [true, true, true]);
});

Deno.test("circuit breaker counts any response of the vendor as a successful connection", () => {
  for (const answer of [failureOf("invalid", { status: 400 }), failureOf("broken", { status: 200 })]) {
    const { fail, isResting } = openTestBreaker();
    fail("a", NO_CONNECTION);
    fail("a", NO_CONNECTION);
    fail("a", answer);
    fail("a", NO_CONNECTION);
    assertEquals(isResting("a"), false);
  }
});

Deno.test("circuit breaker ignores outcomes that are not about the provider", () => {
  const { fail, isResting, breaker } = openTestBreaker();
  const silent = [
    failureOf("broken", { status: 200, accepted: "unknown" }),
    failureOf("invalid", { status: 400 }),
    failureOf("forbidden", { status: 403 }),
    failureOf("cancelled", { accepted: "unknown" }),
    new GatewayError("invalid_request", "Cannot say that"),
    new TypeError("a fault of ours"),
  ];
  for (const failure of silent) for (let time = 0; time < 5; time++) fail(time % 2 ? "a" : "b", failure);
  assertEquals([isResting("a"), breaker.health()[0]?.models[0]?.failuresInARow], [false, 0]);
});

Deno.test("circuit breaker keeps models and providers apart", () => {
  const { isResting, breaker } = open();
  assertEquals(isResting("a", "other"), false);
  assertEquals(breaker.availabilityOf({ provider: "other", model: "m" }, "a"), "available");
});

Deno.test("circuit breaker resets failures at a success, and drops those before the window", () => {
  const { fail, succeed, isResting, clock } = openTestBreaker();
  fail("a");
  fail("b");
  succeed("c");
  fail("a");
  assertEquals(isResting("a"), false);
  fail("b");
  clock.advance(60_000);
  fail("a");
  assertEquals(isResting("a"), false);
});

Deno.test("circuit breaker stays open no longer when the machine's clock is set back, and reports the end by that clock", () => {
  const { clock, breaker, isResting } = open();
  clock.set(clock.now() - 3_600_000);
  assertEquals(breaker.health()[0]?.models[0]?.restsUntil, clock.now() + 1_000);
  clock.advance(1_000);
  assertEquals(isResting("a"), false);
});

Deno.test("circuit breaker lets one probe through when the open time ends", () => {
  const { clock, breaker, isResting } = open();
  clock.advance(999);
  assertEquals(isResting("b"), true);
  clock.advance(1);
  assertEquals(isResting("b"), false);
  const probe = breaker.onStart(CIRCUIT, "b");
  assertEquals([isResting("b"), isResting("a"), breaker.health()[0]?.models[0]?.state], [true, true, "half_open"]);
  probe.succeeded();
  assertEquals(isResting("a"), false);
});

Deno.test("circuit breaker lets the next probe through after a neutral one", () => {
  const { clock, breaker, isResting } = open();
  clock.advance(1000);
  breaker.onStart(CIRCUIT, "a").failed(failureOf("cancelled"));
  assertEquals(isResting("b"), false);
});

Deno.test("circuit breaker doubles the open time at a failed probe, up to the maximum", () => {
  const { clock, fail, isResting } = open();
  for (const openMs of [1000, 2000, 4000, 4000]) {
    clock.advance(openMs - 1);
    assertEquals(isResting("a"), true);
    clock.advance(1);
    assertEquals(isResting("a"), false);
    fail("a");
  }
});

Deno.test("circuit breaker doubles the open time of a connection circuit at a failed probe too", () => {
  const { clock, fail, isResting } = openTestBreaker();
  for (let time = 0; time < 3; time++) fail("a", NO_CONNECTION);
  for (const openMs of [1000, 2000, 4000, 4000]) {
    clock.advance(openMs - 1);
    assertEquals(isResting("b"), true);
    clock.advance(1);
    assertEquals(isResting("b"), false);
    fail("b", NO_CONNECTION);
  }
});

Deno.test("circuit breaker is not extended by attempts that started before it opened", () => {
  const { clock, breaker, isResting } = openTestBreaker();
  const attempts = ["a", "b", "a", "b", "a", "b", "a"].map((account) => breaker.onStart(CIRCUIT, account));
  for (const attempt of attempts) attempt.failed(SERVICE_FAILURES["500"]);
  clock.advance(1000);
  assertEquals(isResting("a"), false);
});

Deno.test("circuit breaker does not stay open for others when one account fails every probe", () => {
  const { clock, fail, isResting } = open();
  clock.advance(60_000);
  fail("a");
  assertEquals([isResting("a"), isResting("b")], [true, false]);
  fail("b");
  assertEquals([isResting("a"), isResting("b"), isResting("c")], [true, true, true]);
});

Deno.test("circuit breaker computes the open time for all accounts apart from that of one account", () => {
  const { clock, fail, isResting } = openTestBreaker({ maxRestMs: 64_000 });
  for (let time = 0; time < 3; time++) fail("a");
  for (const openMs of [1000, 2000, 4000]) {
    clock.advance(openMs);
    fail("a");
  }
  fail("b");
  clock.advance(1000);
  assertEquals(isResting("b"), false);
});

Deno.test("circuit breaker stays open for as long as the vendor asks, up to the maximum", () => {
  for (const [seconds, openMs] of [[3, 3000], [3600, 4000]] as const) {
    const { clock, fail, isResting } = openTestBreaker();
    const failure = failureOf("rate_limited", { status: 429, retryAfterSeconds: seconds });
    fail("a", failure);
    fail("b", failure);
    fail("b", failure);
    clock.advance(openMs - 1);
    assertEquals(isResting("a"), true);
    clock.advance(1);
    assertEquals(isResting("a"), false);
  }
});

Deno.test("circuit breaker opens for nobody else at one account's 429 with Retry-After", () => {
  const { fail, succeed, isResting } = openTestBreaker();
  succeed("b");
  const failure = failureOf("rate_limited", { status: 429, retryAfterSeconds: 3600 });
  for (let time = 0; time < 10; time++) fail("a", failure);
  assertEquals([isResting("a"), isResting("b")], [false, false]);
});

Deno.test("circuit breaker counts successes and failures since the start, also when a success closes it", () => {
  const { clock, breaker, succeed, fail } = open();
  const failedAt = clock.now();
  fail("a", failureOf("broken", { status: 200 }));
  clock.advance(1000);
  succeed("a");
  fail("a", failureOf("cancelled"));
  succeed("a", "other");
  const closed = { state: "closed", failuresInARow: 0, restsUntil: null, accountId: null } as const;
  assertEquals(breaker.health(), [{
    provider: "acme",
    state: "ready",
    rejectedAt: null,
    connection: closed,
    models: [
      { model: "m", ...closed, succeeded: 1, failed: 4, lastFailedAt: failedAt },
      { model: "other", ...closed, succeeded: 1, failed: 0, lastFailedAt: null },
    ],
    succeeded: 2,
    failed: 4,
    lastFailedAt: failedAt,
  }]);
});

Deno.test("circuit breaker returns how many circuits of a provider are open", () => {
  const stateOf = ({ breaker }: TestBreaker) => itemAt(breaker.health(), 0).state;
  const whole = open();
  assertEquals(stateOf(whole), "resting");
  whole.succeed("a", "other");
  assertEquals(stateOf(whole), "degraded");
  whole.succeed("a");
  assertEquals(stateOf(whole), "ready");
  const alone = openTestBreaker();
  for (let time = 0; time < 3; time++) alone.fail("a");
  assertEquals([stateOf(alone), alone.breaker.health()[0]?.models[0]?.accountId], ["ready", "a"]);
  const unreached = openTestBreaker();
  unreached.succeed("a", "other");
  for (let time = 0; time < 3; time++) unreached.fail("a", NO_CONNECTION);
  assertEquals(stateOf(unreached), "resting");
});

const hostile = fc.oneof(
  fc.constantFrom(...Object.values(SERVICE_FAILURES)).map((failure) => ({ failure })),
  fc.integer({ min: 0, max: 20_000 }).map((waitMs) => ({ waitMs })),
);

Deno.test("circuit breaker property: failures of one account never redirect another", () => {
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 60 }), fc.boolean(), (steps, isEarly) => {
      const { clock, fail, succeed, isResting } = openTestBreaker();
      if (isEarly) succeed("honest");
      for (const step of steps) {
        if ("failure" in step) fail("hostile", step.failure);
        else clock.advance(step.waitMs);
        assertEquals(isResting("honest"), false);
      }
    }),
  );
});

Deno.test("circuit breaker property: with other traffic in the window, failures of one account never open a circuit", () => {
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 60 }), (steps) => {
      const { clock, fail, succeed, isResting } = openTestBreaker();
      succeed("honest");
      for (const step of steps) {
        if ("failure" in step) fail("hostile", step.failure);
        else {
          clock.advance(step.waitMs);
          succeed("honest");
        }
        assertEquals(isResting("hostile"), false);
      }
    }),
  );
});

Deno.test("circuit breaker property: failures to connect in a row always open it, whatever happened before", () => {
  const attempt = fc.record({
    account: fc.constantFrom("a", "b", "c"),
    model: fc.constantFrom("m", "n"),
    failure: fc.option(fc.constantFrom(NO_CONNECTION, ...Object.values(SERVICE_FAILURES))),
  });
  const accounts = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 3, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 30 }), accounts, (before, connecting) => {
      const { fail, succeed, isResting } = openTestBreaker();
      for (const { account, model, failure } of before) {
        if (failure === null) succeed(account, model);
        else fail(account, failure, model);
      }
      for (const account of connecting) fail(account, NO_CONNECTION);
      assert(isResting("a") && isResting("stranger", "untried"));
    }),
  );
});

Deno.test("one failure opens the circuit of a provider that another process could not reach", () => {
  const opened: string[] = [];
  const { clock, breaker, fail, succeed, isResting } = openTestBreaker({ onOpened: (name) => void opened.push(name) });
  breaker.noteOpenedElsewhere("acme");
  assertEquals(isResting("b"), false);
  fail("a", NO_CONNECTION);
  assertEquals([isResting("b"), opened], [true, ["acme"]]);
  clock.advance(1_000);
  succeed("a");
  fail("a", NO_CONNECTION);
  assertEquals(isResting("b"), false);
});
