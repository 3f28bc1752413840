import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { candidatesFor, type RoutingContext } from "../../src/vendors/routing/candidates.ts";
import type { Availability } from "../../src/vendors/routing/circuit_breaker.ts";
import { weightedOrder } from "../../src/vendors/routing/weights.ts";

const serving = [
  { provider: "a", model: "m", weight: 80 },
  { provider: "b", model: "m", weight: 20 },
  { provider: "c", model: "m", weight: 0 },
];
/** A context with these states of providers. */
function contextOf(states: Readonly<Record<string, Availability>> = {}, random = () => 0): RoutingContext {
  const breaker = { availabilityOf: ({ provider }: { provider: string }) => states[provider] ?? "available" };
  return { breaker, accountId: "demo", random };
}

const ALL_OPEN = { a: "resting", b: "resting", c: "resting" } as const;
const ALL_MISCONFIGURED = { a: "misconfigured", b: "misconfigured", c: "misconfigured" } as const;

const names = (list: readonly { provider: string }[]) => list.map(({ provider }) => provider).join("");

Deno.test("candidatesFor() returns only the pinned provider, also when its circuit is open", () => {
  assertEquals(names(candidatesFor(serving, "b", contextOf(ALL_OPEN))), "b");
});

Deno.test("candidatesFor() chooses by weight and puts weight 0 last", () => {
  assertEquals(names(candidatesFor(serving, null, contextOf({}, () => 0.79))), "abc");
  assertEquals(names(candidatesFor(serving, null, contextOf({}, () => 0.81))), "bac");
});

Deno.test("candidatesFor() puts providers with an open circuit after the others", () => {
  assertEquals(names(candidatesFor(serving, null, contextOf({ a: "resting" }))), "bca");
});

Deno.test("candidatesFor() returns all providers when all circuits are open", () => {
  assertEquals(candidatesFor(serving, null, contextOf(ALL_OPEN)).length, 3);
});

Deno.test("candidatesFor() omits misconfigured providers", () => {
  assertEquals(names(candidatesFor(serving, null, contextOf({ a: "misconfigured" }))), "bc");
  assertEquals(names(candidatesFor(serving, null, contextOf({ a: "misconfigured", b: "resting" }))), "cb");
});

Deno.test("candidatesFor() throws upstream_auth_failed when every provider is misconfigured, pinned or not", () => {
  for (const [pin, states] of [[null, ALL_MISCONFIGURED], ["b", { b: "misconfigured" }]] as const) {
    const error = assertThrows(() => candidatesFor(serving, pin, contextOf(states)), GatewayError);
    assertEquals([error.code, error.details.provider], ["upstream_auth_failed", pin ?? "a"]);
  }
});

Deno.test("weightedOrder() keeps every item once", () => {
  fc.assert(fc.property(
    fc.array(fc.record({ id: fc.nat(), weight: fc.float({ min: 0, max: 100, noNaN: true }) })),
    fc.infiniteStream(fc.float({ min: 0, max: Math.fround(0.999), noNaN: true })),
    (items, chance) => {
      const ordered = weightedOrder(items, ({ weight }) => weight, () => chance.next().value);
      assertEquals(new Set(ordered), new Set(items));
      assertEquals(ordered.length, items.length);
    },
  ));
});
