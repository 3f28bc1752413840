import { assertEquals } from "@std/assert";
import { medianOf, spreadOf } from "../../bench/statistics.ts";

Deno.test("medianOf() returns the middle, and between two middles their mean", () => {
  assertEquals(medianOf([9, 1, 5]), 5);
  assertEquals(medianOf([4, 1, 2, 100]), 3);
  assertEquals(medianOf([]), null);
});

Deno.test("spreadOf() returns the nearest ranks of an unsorted sample", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  assertEquals(spreadOf(hundred), { p50: 50, p99: 99, max: 100 });
  assertEquals(spreadOf([3, 1, 2]), { p50: 2, p99: 3, max: 3 });
  assertEquals(spreadOf([7]), { p50: 7, p99: 7, max: 7 });
  assertEquals(spreadOf([]), null);
});
