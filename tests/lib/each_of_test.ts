import { assertEquals, assertRejects } from "@std/assert";
import { forEachConcurrent } from "../../src/platform/lib/collections/for_each_concurrent.ts";

Deno.test("eachOf() runs all items in order, within the concurrency limit", async () => {
  const begun: number[] = [];
  let [atWork, most] = [0, 0];
  await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    begun.push(item);
    most = Math.max(most, ++atWork);
    await new Promise((resolve) => setTimeout(resolve, 1));
    atWork--;
  });
  assertEquals([begun, most, atWork], [[1, 2, 3, 4, 5, 6, 7], 3, 0]);
});

Deno.test("eachOf() throws the error of an item", async () => {
  await assertRejects(() => forEachConcurrent([1], 3, () => Promise.reject(new RangeError("no"))), RangeError, "no");
});
