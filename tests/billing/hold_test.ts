import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import {
  addHold,
  captureHold,
  closeHold,
  drawFromHold,
  type Hold,
  HoldEndedError,
  readHold,
  releaseHold,
} from "../../src/money/billing/hold.ts";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { itemAt } from "../support/items.ts";
import { manualClock } from "./support.ts";

async function storeWith(balance: Money): Promise<StoreEngine> {
  const store = await openMemoryStore({ clock: manualClock() });
  await createAccount(store, { id: "acme", balance });
  return store;
}

function hold(store: Store, reference: string, amount: Money) {
  const task = { set: [{ key: ["task", reference], value: "pending" }] };
  return store.commit(`create/${reference}`, addHold(task, { account: "acme", reference, amount }, store.now()));
}

async function openHold(store: Store, reference: string): Promise<Hold> {
  return (await readHold(store, reference))!;
}

Deno.test("addHold() holds money in the commit that creates the work, or neither is written", async () => {
  const store = await storeWith(100n);
  assertEquals((await hold(store, "task-1", 60n)).ok, true);
  assertEquals(await store.balance("acme"), { available: 40n, held: 60n });
  assertEquals(await hold(store, "task-2", 60n), { ok: false, why: "short", at: 0 });
  assertEquals(await store.get([["task", "task-2"]]), [null]);
  assertEquals(await readHold(store, "task-2"), null);
});

Deno.test("of 200 holds at once, each of 60 % of the balance, exactly one is made", async () => {
  const store = await storeWith(100n);
  const made = await Promise.all(Array.from({ length: 200 }, (_, i) => hold(store, `task-${i}`, 60n)));
  assertEquals(made.filter(({ ok }) => ok).length, 1);
  assertEquals(await store.balance("acme"), { available: 40n, held: 60n });
});

Deno.test("captureHold() takes the cost and releases the rest", async () => {
  const store = await storeWith(100n);
  await hold(store, "task-1", 60n);
  const capture = captureHold({}, await openHold(store, "task-1"), 25n, store.now(), { model: "acme/video" });
  assertEquals([capture.captured, capture.underpriced], [25n, 0n]);
  assertEquals((await store.commit(null, capture.commit)).ok, true);
  assertEquals(await store.balance("acme"), { available: 75n, held: 0n });
  const ended = await openHold(store, "task-1");
  assertEquals([ended.state, ended.captured, ended.resolvedAt], ["captured", 25n, store.now()]);
  const line = itemAt(await store.ledger("acme", { limit: 1, reverse: true }), 0);
  assertEquals([line.operation, line.reference, line.detail], ["capture", "task-1", { model: "acme/video" }]);
});

Deno.test("captureHold() takes at most the hold and returns the excess", async () => {
  const store = await storeWith(100n);
  await hold(store, "task-1", 60n);
  const capture = captureHold({}, await openHold(store, "task-1"), 61n, store.now());
  assertEquals([capture.captured, capture.underpriced], [60n, 1n]);
  await store.commit(null, capture.commit);
  assertEquals(await store.balance("acme"), { available: 40n, held: 0n });
});

Deno.test("releaseHold() releases everything", async () => {
  const store = await storeWith(100n);
  await hold(store, "task-1", 60n);
  await store.commit(null, releaseHold({}, await openHold(store, "task-1"), store.now()));
  assertEquals(await store.balance("acme"), { available: 100n, held: 0n });
});

Deno.test("a hold ends once, whichever of two ends comes first", async () => {
  const store = await storeWith(100n);
  await hold(store, "task-1", 60n);
  const read = await openHold(store, "task-1");
  const results = await Promise.all([
    store.commit(null, captureHold({}, read, 25n, store.now()).commit),
    store.commit(null, releaseHold({}, read, store.now())),
    store.commit(null, captureHold({}, read, 60n, store.now()).commit),
  ]);
  assertEquals(results.map((result) => result.ok || result.why), [true, "conflict", "conflict"]);
  assertEquals(await store.balance("acme"), { available: 75n, held: 0n });
  const ended = await openHold(store, "task-1");
  assertThrows(() => releaseHold({}, ended, store.now()), HoldEndedError, "it is captured");
  assertThrows(() => captureHold({}, ended, 1n, store.now()), HoldEndedError);
});

Deno.test("a hold of zero, for a free model, ends like any other and changes no balance", async () => {
  const store = await storeWith(100n);
  assertEquals((await hold(store, "task-1", 0n)).ok, true);
  const capture = captureHold({}, await openHold(store, "task-1"), 0n, store.now());
  assertEquals((await store.commit(null, capture.commit)).ok, true);
  assertEquals((await openHold(store, "task-1")).state, "captured");
  assertEquals((await store.ledger("acme", { limit: 10 })).length, 1);
});

Deno.test("holds and captures below zero are refused", async () => {
  const store = await storeWith(100n);
  assertThrows(() => addHold({}, { account: "acme", reference: "x", amount: -1n }, 0), RangeError);
  await hold(store, "task-1", 60n);
  const read = await openHold(store, "task-1");
  assertThrows(() => captureHold({}, read, -1n, store.now()), RangeError);
});

Deno.test("a task can have one hold, forever", async () => {
  const store = await storeWith(100n);
  await hold(store, "task-1", 10n);
  await store.commit(null, releaseHold({}, await openHold(store, "task-1"), store.now()));
  const again = await store.commit(
    null,
    addHold({}, { account: "acme", reference: "task-1", amount: 10n }, store.now()),
  );
  assertEquals(again.ok || again.why, "conflict");
});

type Step = { readonly task: number; readonly end: "hold" | "capture" | "release"; readonly amount: Money };
const anyStep: fc.Arbitrary<Step> = fc.record({
  task: fc.nat(5),
  end: fc.constantFrom("hold", "capture", "release"),
  amount: fc.bigInt({ min: 0n, max: 70n }),
});

async function take(store: Store, { task, end, amount }: Step): Promise<void> {
  const reference = `task-${task}`;
  if (end === "hold") return void await hold(store, reference, amount);
  const read = await readHold(store, reference);
  if (read?.state !== "open") return;
  const commit = end === "capture"
    ? captureHold({}, read, amount, store.now()).commit
    : releaseHold({}, read, store.now());
  await store.commit(null, commit);
}

Deno.test("with parallel holds, captures and releases the ledger adds up to the balance", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const store = await storeWith(100n);
      await Promise.all(steps.map((step) => take(store, step)));
      for (const step of steps) await take(store, step);
      const balance = await store.balance("acme");
      assertEquals(balance.available >= 0n && balance.held >= 0n, true);
      const holds = await Promise.all([0, 1, 2, 3, 4, 5].map((task) => readHold(store, `task-${task}`)));
      const open = holds.filter((read) => read?.state === "open").reduce((sum, read) => sum + read!.amount, 0n);
      const spent = holds.reduce((sum, read) => sum + (read?.captured ?? 0n), 0n);
      assertEquals([balance.held, balance.available], [open, 100n - open - spent]);
      assertEquals((await verifyLedger(store)).differences, []);
    }),
    { numRuns: 30 },
  );
});

Deno.test("a repeated create under its operation name holds once", async () => {
  const store = await storeWith(100n);
  await hold(store, "task-1", 60n);
  assertEquals(await hold(store, "task-1", 60n), { ok: true, replayed: true });
  assertEquals(await store.balance("acme"), { available: 40n, held: 60n });
});

const rowOf = (requestId: string, amount: Money) => ({
  requestId,
  keyId: "key",
  at: 1,
  kind: "text" as const,
  model: "m",
  provider: "p",
  amount,
});

Deno.test("drawFromHold() takes each piece out of the hold with its own entry, and closeHold() releases the rest", async () => {
  const pieces = fc.array(fc.record({ part: fc.bigInt(0n, 9n), cost: fc.bigInt(0n, 12n) }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.bigInt(0n, 9n), fc.nat(8), async (all, rest, cut) => {
      const store = await storeWith(200n);
      const parts = all.reduce((sum, { part }) => sum + part, 0n);
      const costs = all.reduce((sum, { cost }) => sum + cost, 0n);
      await hold(store, "batch", parts + rest);
      const draws = all.map(({ part, cost }, n) => ({
        reference: `batch:${n}`,
        part,
        row: cost === 0n ? null : rowOf(`req_${n}`, cost),
        detail: { batch: "batch" },
      }));
      for (const some of [draws.slice(0, cut), draws.slice(cut)]) {
        const { commit, left } = drawFromHold({}, await openHold(store, "batch"), some);
        assertEquals((await store.commit(null, commit)).ok, true);
        const { version: _, ...stored } = await openHold(store, "batch");
        assertEquals(stored, left);
      }
      assertEquals(await store.balance("acme"), { available: 200n - rest - costs, held: rest });
      const closed = closeHold({}, await openHold(store, "batch"), store.now());
      assertEquals((await store.commit(null, closed)).ok, true);
      assertEquals(await store.balance("acme"), { available: 200n - costs, held: 0n });
      const { state, captured } = await openHold(store, "batch");
      assertEquals([state, captured], [costs > 0n ? "captured" : "released", costs]);
      const entries = await store.ledger("acme", { limit: 100 });
      const charged = all.filter(({ cost }) => cost > 0n).length;
      assertEquals(entries.filter(({ operation }) => operation === "charge").length, charged);
      assertEquals((await verifyLedger(store)).differences, []);
      await store.close();
    }),
    { numRuns: 50 },
  );
});

Deno.test("drawFromHold() refuses parts above the hold, and a hold that has ended", async () => {
  const store = await storeWith(100n);
  await hold(store, "batch", 5n);
  const draw = { reference: "batch:1", part: 6n, row: null, detail: {} };
  const open = await openHold(store, "batch");
  assertThrows(() => drawFromHold({}, open, [draw]), RangeError);
  await store.commit(null, closeHold({}, open, store.now()));
  const ended = await openHold(store, "batch");
  assertThrows(() => drawFromHold({}, ended, []), HoldEndedError);
  assertThrows(() => closeHold({}, ended, store.now()), HoldEndedError);
});
