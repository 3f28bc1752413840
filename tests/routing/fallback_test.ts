import { assertEquals, assertRejects } from "@std/assert";
import { createCircuitBreaker } from "../../src/routing/circuit_breaker.ts";
import { tryInTurn } from "../../src/routing/fallback.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** An error that says how it is to be judged. */
class Failed extends Error {
  constructor(message: string, readonly isRetryable: boolean, readonly isProvidersFault: boolean) {
    super(message);
  }
}

const refused = new Failed("the request is at fault", false, false);
const down = new Failed("the provider is at fault", true, true);
const unsayable = new Failed("this provider cannot be asked", true, false);
const candidates = ["a", "b", "c"].map((provider) => ({ provider, model: "m", weight: 1 }));

async function outcomeOf(outcomes: readonly (string | Failed)[]) {
  const tried: string[] = [];
  const breaker = createCircuitBreaker({ clock: new ManualClock(), failuresToOpen: 1 });
  const result = await tryInTurn(
    candidates.slice(0, outcomes.length),
    breaker,
    ({ provider }) => {
      const outcome = outcomes[tried.push(provider) - 1];
      return typeof outcome === "string" ? Promise.resolve(outcome) : Promise.reject(outcome);
    },
    (error) => error as Failed,
    () => {},
  ).catch((error: Failed) => error.message);
  return {
    result,
    tried: tried.join(""),
    resting: candidates.filter(({ provider }) => breaker.isResting(provider)).length,
  };
}

Deno.test("tryInTurn() tries each candidate once until one answers, and rests those at fault", async () => {
  assertEquals(await outcomeOf([down, unsayable, "fine"]), { result: "fine", tried: "abc", resting: 1 });
});

Deno.test("tryInTurn() stops at a failure that no other candidate can mend", async () => {
  assertEquals(await outcomeOf([refused, "fine"]), { result: refused.message, tried: "a", resting: 0 });
});

Deno.test("tryInTurn() tells of the provider that was asked before the one that could not be", async () => {
  assertEquals((await outcomeOf([down, unsayable])).result, down.message);
  assertEquals((await outcomeOf([unsayable, down])).result, down.message);
  assertEquals((await outcomeOf([unsayable, unsayable])).result, unsayable.message);
});

Deno.test("tryInTurn() passes the only candidate's failure on", async () => {
  await assertRejects(
    () =>
      tryInTurn(
        candidates.slice(0, 1),
        createCircuitBreaker({ clock: new ManualClock() }),
        () => Promise.reject(down),
        (error) => error as Failed,
        () => {},
      ),
    Failed,
  );
});
