import { assertEquals, assertInstanceOf, assertStrictEquals } from "@std/assert";
import { holdRequest, holdState, holdWork, StateFailure } from "../../src/platform/lib/basics/held.ts";

/** Returns the first error that nothing handles while `start` and what it started run. */
async function reportedBy(start: () => void): Promise<unknown> {
  const reported = Promise.withResolvers<unknown>();
  const take = (event: ErrorEvent) => {
    event.preventDefault();
    reported.resolve(event.error);
  };
  addEventListener("error", take);
  try {
    start();
    return await reported.promise;
  } finally {
    removeEventListener("error", take);
  }
}

const broken = new RangeError("broken");

Deno.test("holdState() reports a failure as one of state, with the place of its cause", async () => {
  const failure = await reportedBy(() => holdState(Promise.reject(broken), "charges"));
  assertInstanceOf(failure, StateFailure);
  assertStrictEquals(failure.cause, broken);
  assertEquals(failure.stack?.includes("held_test.ts"), true);
});

Deno.test("holdWork() reports a failure as it is", async () => {
  assertStrictEquals(await reportedBy(() => holdWork(Promise.reject(broken))), broken);
});

Deno.test("holdRequest() ends the request with the failure, and reports an end that fails", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  holdRequest(Promise.reject(broken), resolve);
  assertStrictEquals(await promise, broken);
  const ending = new TypeError("cannot end");
  const end = () => {
    throw ending;
  };
  assertStrictEquals(await reportedBy(() => holdRequest(Promise.reject(broken), end)), ending);
});
