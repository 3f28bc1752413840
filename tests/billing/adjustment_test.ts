import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import * as fc from "fast-check";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { adjustAccount } from "../../src/money/billing/accounts/adjustment.ts";
import { creditAccount } from "../../src/money/billing/accounts/credit.ts";
import { listLedgerEntries } from "../../src/money/billing/ledger/ledger.ts";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { itemAt } from "../support/items.ts";
import { manualClock, observeStore } from "./support.ts";

async function storeWith(balance: bigint) {
  const store = observeStore(await openMemoryStore({ clock: manualClock() }));
  await createAccount(store, { id: "acme", balance });
  return store;
}

const refund = { account: "acme", reason: "charged twice" };

Deno.test("adjustAccount() moves the balance both ways and records the reason in its own ledger entry", async () => {
  const store = await storeWith(100n);
  await adjustAccount(store, { ...refund, amount: -30n, reference: "ticket-1" });
  await adjustAccount(store, { account: "acme", amount: 7n, reason: "goodwill" });
  assertEquals(await store.balance("acme"), { available: 77n, held: 0n });
  const { lines } = await listLedgerEntries(store, "acme", { limit: 9 });
  const { operation, reference, available, detail } = itemAt(lines, 1);
  assertEquals([operation, reference, available, detail], ["adjust", "ticket-1", -30n, { reason: "charged twice" }]);
  assertEquals((await verifyLedger(store)).differences, []);
});

Deno.test("adjustAccount() applies a reference once, also when repeated and in parallel", async () => {
  const store = await storeWith(100n);
  const adjustment = { ...refund, amount: -30n, reference: "ticket-1" };
  const all = await Promise.all(Array.from({ length: 10 }, () => adjustAccount(store, adjustment)));
  assertEquals(all.filter(({ replayed }) => !replayed).length, 1);
  assertEquals((await adjustAccount(store, adjustment)).replayed, true);
  assertEquals((await store.balance("acme")).available, 70n);
});

Deno.test("adjustAccount() refuses the reference of another adjustment, but not that of a credit", async () => {
  const store = await storeWith(100n);
  await creditAccount(store, "acme", 1n, "ticket-1");
  await adjustAccount(store, { ...refund, amount: -30n, reference: "ticket-1" });
  for (const other of [{ ...refund, amount: -31n }, { account: "acme", amount: -30n, reason: "another" }]) {
    const refused = await assertRejects(() => adjustAccount(store, { ...other, reference: "ticket-1" }), GatewayError);
    assertEquals([refused.code, refused.details.field], ["conflict", "reference"]);
  }
  assertEquals((await store.balance("acme")).available, 71n);
});

Deno.test("adjustAccount() takes a balance below zero only when that is allowed", async () => {
  const store = await storeWith(100n);
  const refused = await assertRejects(() => adjustAccount(store, { ...refund, amount: -101n }), GatewayError);
  assertEquals([refused.code, refused.details.field], ["conflict", "amount"]);
  assertStringIncludes(refused.message, "its balance of 0.0000000100 would fall below zero");
  await adjustAccount(store, { ...refund, amount: -101n, allowNegative: true });
  assertEquals((await store.balance("acme")).available, -1n);
  await assertRejects(() => adjustAccount(store, { ...refund, amount: -1n }), GatewayError);
  await adjustAccount(store, { ...refund, amount: 1n });
  assertEquals((await store.balance("acme")).available, 0n);
});

Deno.test("adjustAccount() can be repeated after an unknown result", async () => {
  const store = await storeWith(100n);
  store.afterCommit = () => {
    store.afterCommit = () => {};
    throw new Error("connection lost");
  };
  const adjustment = { ...refund, amount: -100n, reference: "ticket-1" };
  await assertRejects(() => adjustAccount(store, adjustment), Error, "connection lost");
  assertEquals((await adjustAccount(store, adjustment)).replayed, true);
  assertEquals((await store.balance("acme")).available, 0n);
});

Deno.test("adjustAccount() refuses zero, invalid reasons and references, and unknown accounts", async () => {
  const store = await storeWith(100n);
  for (
    const wrong of [
      { amount: 0n },
      { reason: "" },
      { reason: "  " },
      { reason: "x".repeat(501) },
      { reason: "two\nlines" },
      { reason: "two\u2028lines" },
      { reason: "\u001b[31mred" },
      { reason: "half \ud800" },
      { reference: "a b" },
      { reference: "" },
    ]
  ) {
    await assertRejects(() => adjustAccount(store, { ...refund, amount: 1n, ...wrong }), RangeError);
  }
  for (const account of ["nobody", "a/b"]) {
    const refused = await assertRejects(() => adjustAccount(store, { ...refund, account, amount: 1n }), GatewayError);
    assertEquals(refused.code, "not_found");
  }
  assertEquals((await store.balance("acme")).available, 100n);
});

Deno.test("law: adjustments at once take a balance below zero only when allowed, and lose nothing", async () => {
  const adjustment = fc.record({ amount: fc.bigInt({ min: -60n, max: 60n }), allowNegative: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(adjustment, { maxLength: 12 }), async (adjustments) => {
      const store = await storeWith(100n);
      const wanted = adjustments.filter(({ amount }) => amount !== 0n);
      const made = await Promise.all(
        wanted.map((each) =>
          adjustAccount(store, { ...refund, ...each }).then(() => each.amount, (error) => {
            assertEquals([error.code, each.allowNegative, each.amount < 0n], ["conflict", false, true]);
            return 0n;
          })
        ),
      );
      const { available } = await store.balance("acme");
      assertEquals(available, made.reduce((sum, amount) => sum + amount, 100n));
      if (wanted.every(({ allowNegative }) => !allowNegative)) assertEquals(available >= 0n, true);
      assertEquals((await verifyLedger(store)).differences, []);
    }),
    { numRuns: 50 },
  );
});
