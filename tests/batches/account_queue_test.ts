import { assertEquals } from "@std/assert";
import { AccountQueue } from "../../src/services/batches/account_queue.ts";

Deno.test("account queue: the pause grows with the batches that wait, and not with those that another gateway ran", () => {
  const queue = new AccountQueue();
  const pauses = (now: number, count: number) => {
    let last = 0;
    for (let nth = 0; nth < count; nth++) last = queue.pauseMs("a", `batch_${now}_${nth}`, now);
    return last;
  };
  assertEquals(pauses(0, 20), 5_000);
  assertEquals(pauses(1, 80), 25_000);
  assertEquals(queue.pauseMs("b", "batch_other", 1), 5_000);
  // None of them is looked at again here.
  assertEquals(pauses(1_000_000, 1), 5_000);
});

Deno.test("account queue: a batch that is looked at again counts once, and one that begins does not count", () => {
  const queue = new AccountQueue();
  for (let nth = 0; nth < 20; nth++) queue.pauseMs("a", `batch_${nth}`, 0);
  assertEquals(queue.pauseMs("a", "batch_3", 5_000), 5_000);
  queue.leave("a", "batch_4");
  assertEquals(queue.pauseMs("a", "batch_new", 5_000), 5_000);
  assertEquals(queue.pauseMs("a", "batch_newer", 5_000), 10_000);
});
