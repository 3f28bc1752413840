import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  createAccount,
  listAccounts,
  readAccount,
  resumeAccount,
  suspendAccount,
} from "../../src/money/billing/accounts/account.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { itemAt } from "../support/items.ts";
import { manualClock } from "./support.ts";

const newStore = () => openMemoryStore({ clock: manualClock() });

async function assertRefused(made: Promise<unknown>, code: string): Promise<void> {
  assertEquals((await assertRejects(() => made, GatewayError)).code, code);
}

Deno.test("createAccount() opens an account with its balance on the ledger and a secret for webhooks", async () => {
  const store = await newStore();
  const { account, webhookSecret } = await createAccount(store, { id: "acme", balance: 250n });
  assertEquals(account, { id: "acme", createdAt: store.now(), suspendedAt: null, available: 250n, held: 0n });
  assertMatch(webhookSecret, /^whsec_[0-9A-Za-z+/]{43}=$/);
  assertEquals(await readAccount(store, "acme"), account);
  const line = itemAt(await store.ledger("acme", { limit: 10 }), 0);
  assertEquals([line.operation, line.available, line.held], ["credit", 250n, 0n]);
});

Deno.test("createAccount() refuses a second account with the id, also in parallel", async () => {
  const store = await newStore();
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, () => createAccount(store, { id: "acme", balance: 5n })),
  );
  assertEquals(made.filter(({ status }) => status === "fulfilled").length, 1);
  await assertRefused(createAccount(store, { id: "acme" }), "conflict");
  assertEquals((await readAccount(store, "acme")).available, 5n);
});

Deno.test("createAccount() refuses ids that need escaping in a path, a log or a ledger", async () => {
  const store = await newStore();
  for (const id of ["", "a/b", "a b", ".", "..", "ä", "a\n", "a".repeat(65), "a".repeat(1024)]) {
    await assertRefused(createAccount(store, { id }), "invalid_request");
  }
  for (const id of ["a", "__proto__", "A.b_c-9", "a".repeat(64)]) await createAccount(store, { id });
});

Deno.test("listAccounts() lists every account once, page by page", async () => {
  const store = await newStore();
  for (const id of ["c", "a", "e", "b", "d"]) await createAccount(store, { id });
  const first = await listAccounts(store, { limit: 2 });
  assertEquals([first.accounts.map(({ id }) => id), first.next], [["a", "b"], "b"]);
  const rest = await listAccounts(store, { limit: 3, after: "b" });
  assertEquals([rest.accounts.map(({ id }) => id), rest.next], [["c", "d", "e"], null]);
});

Deno.test("suspendAccount() keeps the first instant and resumeAccount() ends it", async () => {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "acme" });
  const since = clock.now();
  await suspendAccount(store, "acme");
  clock.advance(1000);
  assertEquals((await suspendAccount(store, "acme")).suspendedAt, since);
  assertEquals((await resumeAccount(store, "acme")).suspendedAt, null);
  assertEquals((await resumeAccount(store, "acme")).suspendedAt, null);
});

Deno.test("accounts that do not exist are not found, whatever their id looks like", async () => {
  const store = await newStore();
  for (const id of ["nobody", "a/b", "", "a".repeat(5000)]) {
    await assertRefused(readAccount(store, id), "not_found");
    await assertRefused(suspendAccount(store, id), "not_found");
    await assertRefused(resumeAccount(store, id), "not_found");
  }
});
