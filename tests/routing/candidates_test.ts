import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { candidatesFor } from "../../src/routing/candidates.ts";
import { weightedOrder } from "../../src/routing/weights.ts";

const serving = [
  { provider: "a", model: "m", weight: 80 },
  { provider: "b", model: "m", weight: 20 },
  { provider: "c", model: "m", weight: 0 },
];
const never = () => false;
const names = (list: readonly { provider: string }[]) => list.map(({ provider }) => provider).join("");

Deno.test("candidatesFor() gives the pinned provider alone, also when it rests", () => {
  assertEquals(names(candidatesFor(serving, "b", () => true)), "b");
});

Deno.test("candidatesFor() splits by weight and keeps weight 0 for last", () => {
  assertEquals(names(candidatesFor(serving, null, never, () => 0.79)), "abc");
  assertEquals(names(candidatesFor(serving, null, never, () => 0.81)), "bac");
});

Deno.test("candidatesFor() puts providers that rest behind those that do not", () => {
  assertEquals(names(candidatesFor(serving, null, (name) => name === "a", () => 0)), "bca");
});

Deno.test("candidatesFor() tries all when all rest", () => {
  assertEquals(candidatesFor(serving, null, () => true, () => 0).length, 3);
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
