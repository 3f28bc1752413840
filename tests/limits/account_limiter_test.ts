import { assertEquals, assertThrows } from "@std/assert";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { AccountLimiter } from "../../src/money/limits/account_limiter.ts";

/** A clock that advances at each reading, as under load. */
function hurryingClock(): Clock {
  let now = 0;
  return { now: () => 1_800_000_000_000 + now++, monotonicMs: () => now++, after: () => () => {} };
}

Deno.test("AccountLimiter takes the first request of a limit of one, although the clock advances meanwhile", () => {
  for (const holder of ["key", "account"] as const) {
    const limiter = new AccountLimiter({ clock: hurryingClock(), openCalls: new Set() });
    const limits = { key: {}, account: {}, [holder]: { rpm: 1, tpm: 100 } };
    const caller = { accountId: "acme", keyId: "key_1", limits };
    assertEquals(limiter.take(caller, { tokens: 100 })?.length, 1);
    assertThrows(() => limiter.take(caller, { tokens: 1 }), GatewayError, "Rate limit exceeded");
  }
});
