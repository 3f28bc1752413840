import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { tryInOrder } from "../../src/vendors/routing/fallback.ts";
import {
  CACHE_FALLBACK,
  type FallbackRule,
  MEDIA_FALLBACK,
  TEXT_FALLBACK,
} from "../../src/vendors/routing/fallback_rule.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { failureOf } from "./support.ts";

const unsupported = new GatewayError("invalid_request", "The format has no such field");
const refused = failureOf("invalid", { status: 400 });
const candidates = ["a", "b", "c", "d"].map((provider) => ({ provider, model: "m", weight: 1 }));

async function outcomeOf(outcomes: readonly (string | Error)[], rule: FallbackRule = TEXT_FALLBACK) {
  const tried: string[] = [];
  const passedOver: string[] = [];
  const clock = new ManualClock();
  const breaker = createCircuitBreaker({ clock });
  const options = {
    breaker,
    accountId: "demo",
    rule,
    gate: null,
    onFallback: ({ provider }: { provider: string }) => void passedOver.push(provider),
    record: unobservedRecord(),
    clock,
  };
  const result = await tryInOrder(candidates.slice(0, outcomes.length), options, ({ provider }) => {
    const outcome = outcomes[tried.push(provider) - 1];
    return typeof outcome === "string" ? Promise.resolve(outcome) : Promise.reject(outcome);
  }).catch((error: Error) => error);
  const failed = breaker.health().filter((each) => each.failed > 0).map(({ provider }) => provider);
  return { result, tried: tried.join(""), passedOver: passedOver.join(""), failed: failed.join("") };
}

Deno.test("tryInTurn() tries each candidate once until one succeeds, and reports every attempt", async () => {
  const outcome = await outcomeOf([failureOf("unavailable", { status: 500 }), unsupported, "fine"]);
  assertEquals(outcome, { result: "fine", tried: "abc", passedOver: "ab", failed: "a" });
});

Deno.test("tryInTurn() stops at a failure that every candidate would return", async () => {
  for (
    const failure of [refused, failureOf("cancelled"), new GatewayError("not_found", "Gone"), new TypeError("ours")]
  ) {
    const { result, tried } = await outcomeOf([failure, "fine"]);
    assertEquals([result, tried], [failure, "a"]);
  }
});

for (
  const [name, rule, afterUnknown, afterUnsupported] of [
    ["texts", TEXT_FALLBACK, "ab", "ab"],
    ["caches", CACHE_FALLBACK, "a", "ab"],
    ["pictures and videos", MEDIA_FALLBACK, "a", "a"],
  ] as const
) {
  Deno.test(`tryInTurn() retries ${name} elsewhere as their rule says`, async () => {
    for (
      const failure of [
        failureOf("timeout", { accepted: "unknown" }),
        failureOf("unreachable", { accepted: "unknown" }),
        failureOf("broken", { accepted: "unknown", status: 200 }),
        failureOf("unavailable", { accepted: "unknown", status: 502 }),
      ]
    ) {
      assertEquals((await outcomeOf([failure, "fine"], rule)).tried, afterUnknown, failure.kind);
    }
    for (const failure of [failureOf("unreachable"), failureOf("rate_limited", { status: 429 }), failureOf("auth")]) {
      assertEquals((await outcomeOf([failure, "fine"], rule)).tried, "ab", failure.kind);
    }
    assertEquals((await outcomeOf([unsupported, "fine"], rule)).tried, afterUnsupported);
  });
}

/** The most helpful first. */
const BY_HELPFULNESS: readonly Error[] = [
  failureOf("rate_limited", { status: 429, retryAfterSeconds: 7 }),
  failureOf("rate_limited", { status: 429 }),
  failureOf("unavailable", { status: 503 }),
  failureOf("timeout", { accepted: "unknown" }),
  failureOf("unavailable", { status: 500 }),
  failureOf("unreachable"),
  unsupported,
  failureOf("forbidden", { status: 403 }),
  failureOf("auth", { status: 401 }),
];

Deno.test("tryInTurn() throws the most helpful failure, in whatever order the candidates failed", async () => {
  const some = fc.uniqueArray(fc.constantFrom(...BY_HELPFULNESS.keys()), {
    minLength: 1,
    maxLength: candidates.length,
  });
  await fc.assert(
    fc.asyncProperty(some, async (chosen) => {
      const { result } = await outcomeOf(chosen.map((at) => itemAt(BY_HELPFULNESS, at)));
      assertStrictEquals(result, BY_HELPFULNESS[Math.min(...chosen)]);
    }),
  );
});

Deno.test("tryInTurn() throws the only candidate's failure unchanged", async () => {
  const clock = new ManualClock();
  const breaker = createCircuitBreaker({ clock });
  const record = unobservedRecord();
  const options = { breaker, accountId: "demo", rule: TEXT_FALLBACK, gate: null, onFallback: () => {}, record, clock };
  const down = failureOf("unreachable");
  assertStrictEquals(
    await assertRejects(() => tryInOrder([itemAt(candidates, 0)], options, () => Promise.reject(down))),
    down,
  );
});
