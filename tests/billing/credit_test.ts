import { assertEquals, assertRejects } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { creditAccount } from "../../src/money/billing/accounts/credit.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { manualClock, observeStore } from "./support.ts";

async function storeWith(...ids: string[]) {
  const store = observeStore(await openMemoryStore({ clock: manualClock() }));
  for (const id of ids) await createAccount(store, { id });
  return store;
}

Deno.test("creditAccount() credits a reference once, also when repeated and in parallel", async () => {
  const store = await storeWith("acme");
  const credits = await Promise.all(
    Array.from({ length: 10 }, () => creditAccount(store, "acme", 70n, "invoice-1")),
  );
  assertEquals(credits.filter(({ replayed }) => !replayed).length, 1);
  assertEquals(await creditAccount(store, "acme", 70n, "invoice-1"), { reference: "invoice-1", replayed: true });
  assertEquals(await store.balance("acme"), { available: 70n, held: 0n });
});

Deno.test("creditAccount() keeps the references of two accounts apart", async () => {
  const store = await storeWith("acme", "zeta");
  await creditAccount(store, "acme", 70n, "invoice-1");
  assertEquals((await creditAccount(store, "zeta", 80n, "invoice-1")).replayed, false);
  assertEquals((await store.balance("zeta")).available, 80n);
});

Deno.test("creditAccount() refuses the reference of another amount", async () => {
  const store = await storeWith("acme");
  await creditAccount(store, "acme", 70n, "invoice-1");
  const refused = await assertRejects(() => creditAccount(store, "acme", 71n, "invoice-1"), GatewayError);
  assertEquals([refused.code, refused.details.field], ["conflict", "reference"]);
  assertEquals((await store.balance("acme")).available, 70n);
});

Deno.test("creditAccount() can be repeated after an unknown result", async () => {
  const store = await storeWith("acme");
  store.afterCommit = () => {
    store.afterCommit = () => {};
    throw new Error("connection lost");
  };
  await assertRejects(() => creditAccount(store, "acme", 70n, "invoice-1"), Error, "connection lost");
  assertEquals((await creditAccount(store, "acme", 70n, "invoice-1")).replayed, true);
  assertEquals((await store.balance("acme")).available, 70n);
});

Deno.test("creditAccount() without a reference credits each time", async () => {
  const store = await storeWith("acme");
  const first = await creditAccount(store, "acme", 1n);
  const second = await creditAccount(store, "acme", 1n);
  assertEquals(first.reference === second.reference, false);
  assertEquals((await store.balance("acme")).available, 2n);
});

Deno.test("creditAccount() refuses amounts that are not above zero, wrong references and unknown accounts", async () => {
  const store = await storeWith("acme");
  for (const amount of [0n, -1n]) await assertRejects(() => creditAccount(store, "acme", amount), RangeError);
  for (const reference of ["", "a b", "ä", "x".repeat(129)]) {
    await assertRejects(() => creditAccount(store, "acme", 1n, reference), RangeError);
  }
  for (const id of ["nobody", "a/b"]) {
    assertEquals((await assertRejects(() => creditAccount(store, id, 1n), GatewayError)).code, "not_found");
  }
});
