import { assertEquals } from "@std/assert";
import { descendantsOf } from "../../bench/process_tree.ts";

Deno.test("processes: descendants include those of descendants, and no others", () => {
  const parentOf = new Map([[2, 1], [3, 2], [4, 3], [5, 2], [6, 1]]);
  assertEquals(descendantsOf(2, parentOf).toSorted(), [3, 4, 5]);
  assertEquals(descendantsOf(4, parentOf), []);
});
