import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import fc from "fast-check";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { type HeldMemory, MemoryBudget, SMALL_HOLDING_BYTES } from "../../src/platform/lib/process/memory_budget.ts";
import { ThreadUse } from "../../src/platform/lib/process/thread_use.ts";
import { itemAt } from "../support/items.ts";

const MB = 1_000_000;

function refusalOf(work: () => void): GatewayError {
  const error = assertThrows(work);
  assertInstanceOf(error, GatewayError);
  return error;
}

/** Reserves as much as the budget allows the lease, in steps. */
function takeAll(lease: HeldMemory, piece: number): void {
  for (;;) {
    try {
      lease.reserve(piece);
    } catch {
      return;
    }
  }
}

Deno.test("a single account gets at most a quarter of the limit", () => {
  const budget = new MemoryBudget(100 * MB);
  const [one, other] = [budget.lease("a"), budget.lease("a")];
  one.reserve(20 * MB);
  other.reserve(5 * MB);
  const refusal = refusalOf(() => other.reserve(1));
  assertEquals([refusal.code, refusal.status, refusal.details.retryAfterSeconds], ["overloaded", 503, 5]);
  assertEquals([budget.inUse, budget.inUseBy("a")], [25 * MB, 25 * MB]);
  one.release(MB);
  other.reserve(MB);
});

Deno.test("a request that no account could ever hold is rejected as too large, without a retry", () => {
  const lease = new MemoryBudget(100 * MB).lease("a");
  const refusal = refusalOf(() => lease.reserve(25 * MB + 1));
  assertEquals([refusal.code, refusal.status, refusal.details.retryAfterSeconds], [
    "request_too_large",
    413,
    undefined,
  ]);
});

Deno.test("an eighth of the limit stays free for small requests, however many accounts use their maximum", () => {
  const limit = 1_000 * MB;
  for (const accounts of [1, 2, 5, 20, 50]) {
    const budget = new MemoryBudget(limit);
    for (let n = 0; n < accounts; n++) takeAll(budget.lease(`greedy-${n}`), 2 * MB);
    assertEquals(limit - budget.inUse >= limit / 8, true);
    for (let n = 0; n < 100; n++) budget.lease(`newcomer-${n}`).reserve(MB);
  }
});

Deno.test("an account gets less the more the others use", () => {
  const budget = new MemoryBudget(1_000 * MB);
  const held = Array.from({ length: 4 }, (_, n) => {
    takeAll(budget.lease(`greedy-${n}`), MB);
    return Math.round(budget.inUseBy(`greedy-${n}`) / MB);
  });
  assertEquals(held, [250, 187, 140, 105]);
});

Deno.test("a small request of another account is never refused because some account uses much", () => {
  fc.assert(fc.property(
    fc.array(fc.record({ account: fc.integer({ min: 0, max: 20 }), bytes: fc.integer({ min: 1, max: 300 * MB }) })),
    fc.integer({ min: 1, max: SMALL_HOLDING_BYTES }),
    (takes, small) => {
      const budget = new MemoryBudget(1_000 * MB);
      for (const { account, bytes } of takes) {
        try {
          budget.lease(`account-${account}`).reserve(bytes);
        } catch { /* refused */ }
      }
      budget.lease("neighbour").reserve(small);
    },
  ));
});

Deno.test("requests without a valid key share one small budget, which moves when the caller is known", () => {
  const budget = new MemoryBudget(320 * MB);
  const [first, second] = [budget.lease(), budget.lease()];
  first.reserve(10 * MB);
  assertEquals(refusalOf(() => second.reserve(1)).code, "overloaded");
  first.assignTo("a");
  assertEquals([budget.inUseBy(null), budget.inUseBy("a")], [0, 10 * MB]);
  second.reserve(1);
});

Deno.test("an ended lease has no memory and gets none", () => {
  const budget = new MemoryBudget(100 * MB);
  const lease = budget.lease("a");
  lease.reserve(MB);
  const work = lease.fork();
  work.reserve(2 * MB);
  lease.end();
  lease.end();
  assertEquals([budget.inUse, lease.held, work.held], [2 * MB, 0, 2 * MB]);
  refusalOf(() => lease.reserve(1));
  work.reserve(1);
  work.end();
  assertEquals(budget.inUse, 0);
});

Deno.test("after any sequence of takes, returns, moves and ends the budget is back to zero", () => {
  const step = fc.record({
    what: fc.constantFrom("open", "take", "give", "back", "move", "fork", "end"),
    which: fc.nat(20),
    bytes: fc.nat(30 * MB),
    account: fc.nat(3),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const budget = new MemoryBudget(100 * MB);
    const leases: HeldMemory[] = [budget.lease("0")];
    for (const { what, which, bytes, account } of steps) {
      const lease = itemAt(leases, which % leases.length);
      if (what === "open") leases.push(budget.lease(account === 0 ? null : String(account)));
      else if (what === "give") lease.release(bytes);
      else if (what === "back") lease.releaseTo(bytes);
      else if (what === "move") lease.assignTo(String(account));
      else if (what === "fork") leases.push(lease.fork());
      else if (what === "end") lease.end();
      else {
        try {
          lease.reserve(bytes);
        } catch { /* refused */ }
      }
      assertEquals(budget.inUse, leases.reduce((sum, { held }) => sum + held, 0));
      assertEquals(budget.inUse <= 100 * MB, true);
    }
    leases.forEach((lease) => lease.end());
    assertEquals([budget.inUse, budget.inUseBy(null), budget.inUseBy("1")], [0, 0, 0]);
  }));
});

Deno.test("MemoryBudget removes accounts that hold nothing, and keeps the others", () => {
  const budget = new MemoryBudget(1e9);
  const kept = budget.lease("kept");
  kept.reserve(1_000);
  for (let account = 0; account < 5_000; account++) {
    const lease = budget.lease(`account-${account}`);
    lease.reserve(1);
    lease.end();
  }
  assertEquals([budget.accountCount <= 2_048, budget.inUseBy("kept"), budget.inUse], [true, 1_000, 1_000]);
});

Deno.test("threads do not hold more than the limit together, and each budget reads what all hold", () => {
  const buffer = ThreadUse.bufferFor(3);
  const limitBytes = 120 * MB;
  const main = new MemoryBudget(limitBytes, { use: new ThreadUse(buffer, 0), limitBytes });
  const isolates = [1, 2].map((thread) =>
    new MemoryBudget(limitBytes / 2, { use: new ThreadUse(buffer, thread), limitBytes })
  );
  const leases = [main, ...isolates].flatMap((budget) => ["a", "b", "c", "d", "e", "f"].map((id) => budget.lease(id)));
  for (let round = 0; round < 3; round++) for (const lease of leases) takeAll(lease, 100_000);
  const held = leases.reduce((sum, lease) => sum + lease.held, 0);
  assert(held > limitBytes / 2 && held <= limitBytes, String(held));
  for (const budget of [main, ...isolates]) assert(Math.abs(budget.inUse - held) <= 3 * 1_024);
  for (const lease of leases) lease.end();
  assertEquals([main, ...isolates].map(({ inUse }) => inUse), [0, 0, 0]);
});

Deno.test("an account holds no more of the memory with several threads than with one", () => {
  const limitBytes = 120 * MB;
  const heldWith = (threads: number): number => {
    const buffer = ThreadUse.bufferFor(threads);
    const leases = Array.from({ length: threads }, (_, thread) => {
      const budget = new MemoryBudget(limitBytes, { use: new ThreadUse(buffer, thread), limitBytes });
      return budget.lease("greedy");
    });
    for (let round = 0; round < 300; round++) for (const lease of leases) takeAll(lease, 100_000);
    return leases.reduce((sum, lease) => sum + lease.held, 0);
  };
  const alone = heldWith(1);
  assert(alone > 29 * MB && alone <= 30 * MB, String(alone));
  for (const threads of [2, 4, 8]) {
    const held = heldWith(threads);
    // Every thread may hold a megabyte, so that a small request is never refused.
    assert(held <= 30 * MB + (threads - 1) * SMALL_HOLDING_BYTES, `${threads}: ${held}`);
  }
});

Deno.test("the memory of a thread that ended is free for the other threads", () => {
  const limitBytes = 120 * MB;
  const buffer = ThreadUse.bufferFor(2);
  const main = new MemoryBudget(limitBytes, { use: new ThreadUse(buffer, 0), limitBytes });
  const ended = new MemoryBudget(limitBytes, { use: new ThreadUse(buffer, 1), limitBytes }).lease("a");
  ended.reserve(29 * MB);
  const lease = main.lease("a");
  assertThrows(() => lease.reserve(20 * MB), GatewayError, "too many requests are in progress");
  main.lease("b").reserve(20 * MB);
  new ThreadUse(buffer, 1).clear();
  lease.reserve(20 * MB);
});

Deno.test("requests without a valid key share one small budget, however many threads there are", () => {
  const limitBytes = 320 * MB;
  const buffer = ThreadUse.bufferFor(2);
  const [first, second] = [0, 1].map((thread) =>
    new MemoryBudget(limitBytes, { use: new ThreadUse(buffer, thread), limitBytes }).lease()
  );
  first?.reserve(10 * MB);
  assertEquals(refusalOf(() => second?.reserve(10_000)).code, "overloaded");
  first?.assignTo("a");
  second?.reserve(10_000);
});

Deno.test("threads that reserve at the same moment do not exceed the limit together", () => {
  const limitBytes = 120 * MB;
  const buffer = ThreadUse.bufferFor(2);
  const other = new ThreadUse(buffer, 1);
  const use = new ThreadUse(buffer, 0);
  const { addToGroup } = use;
  // The other thread reserves after this one has looked for room.
  use.addToGroup = (group, bytes) => {
    if (bytes > 0) other.setMemory(100 * MB);
    addToGroup.call(use, group, bytes);
  };
  const budget = new MemoryBudget(limitBytes, { use, limitBytes });
  const lease = budget.lease("a");
  assertEquals(refusalOf(() => lease.reserve(29 * MB)).code, "overloaded");
  assertEquals([lease.held, budget.inUseBy("a")], [0, 0]);
});
