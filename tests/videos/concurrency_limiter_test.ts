import { assert, assertEquals } from "@std/assert";
import { ConcurrencyLimiter, type Permit } from "../../src/services/videos/submit/concurrency_limiter.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";

function limiterOf(max: number, clock = new ManualClock()): ConcurrencyLimiter {
  return new ConcurrencyLimiter(max, clock);
}

/** Acquires permits for an account until none is left. */
function takeAll(limiter: ConcurrencyLimiter, account: string, provider = "vendor"): Permit[] {
  const permits: Permit[] = [];
  for (let permit; (permit = limiter.acquire(provider, account)) !== null;) permits.push(permit);
  return permits;
}

Deno.test("ConcurrencyLimiter gives one account half of a provider's permits and always leaves one for the next account", () => {
  const limiter = limiterOf(64);
  assertEquals(takeAll(limiter, "first").length, 32);
  assertEquals(takeAll(limiter, "first", "another vendor").length, 32);
  for (let nth = 0; nth < 5; nth++) assert(takeAll(limiter, `account-${nth}`).length > 0);
});

Deno.test("ConcurrencyLimiter gives each of n accounts one part in n + 1 after earlier permits are released", () => {
  const limiter = limiterOf(64);
  const held = new Map<string, Permit[]>();
  for (let round = 0; round < 200; round++) {
    for (const account of ["a", "b", "c"]) {
      const permits = [...held.get(account) ?? [], ...takeAll(limiter, account)];
      permits.shift()?.[Symbol.dispose]();
      held.set(account, permits);
    }
  }
  for (const permits of held.values()) assert(permits.length >= 14 && permits.length <= 17, String(permits.length));
});

Deno.test("ConcurrencyLimiter releases a permit once, even if it is disposed of twice", () => {
  const limiter = limiterOf(2);
  const permit = itemAt(takeAll(limiter, "a"), 0);
  permit[Symbol.dispose]();
  permit[Symbol.dispose]();
  assertEquals(["a", "b", "c"].map((account) => takeAll(limiter, account).length), [1, 1, 0]);
});

Deno.test("retryDelayMs() schedules jobs of one account at consecutive instants, independent of other accounts", () => {
  const clock = new ManualClock();
  const limiter = limiterOf(1, clock);
  const rowOf = (account: string) => [1, 2, 3].map(() => limiter.retryDelayMs("vendor", account));
  assertEquals(rowOf("a"), [1_000, 1_020, 1_040]);
  assertEquals(rowOf("b"), [1_000, 1_040, 1_080]);
  clock.advance(90_000);
  assertEquals(rowOf("a"), [1_000, 1_020, 1_040]);
});

Deno.test("retryDelayMs() is at most two minutes and does not depend on the wall clock", () => {
  const clock = new ManualClock();
  const limiter = limiterOf(1, clock);
  for (let nth = 0; nth < 10_000; nth++) limiter.retryDelayMs("vendor", "a");
  assertEquals(limiter.retryDelayMs("vendor", "a"), 120_000);
  clock.set(clock.now() - 7_200_000);
  clock.advance(120_000);
  assertEquals(limiter.retryDelayMs("vendor", "a"), 1_000);
});
