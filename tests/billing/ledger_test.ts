import { assertEquals } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { addCharge, type ChargeRow } from "../../src/money/billing/ledger/charge.ts";
import { addHold } from "../../src/money/billing/hold.ts";
import { listLedgerEntries } from "../../src/money/billing/ledger/ledger.ts";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { atLeast } from "../support/items.ts";
import { manualClock, observeStore } from "./support.ts";

const ROW: ChargeRow = {
  requestId: "req_1",
  keyId: "key_1",
  at: 1,
  kind: "text",
  model: "acme/large",
  provider: "acme",
  amount: 10n,
};

async function storeWithLines(): Promise<Store> {
  const store = await openMemoryStore({ clock: manualClock() });
  await createAccount(store, { id: "acme", balance: 100n });
  const rows = [ROW, { ...ROW, requestId: "req_2", amount: 5n }];
  await store.commit(null, addCharge({}, { account: "acme", reference: "charge_1", rows }));
  await store.commit(null, addHold({}, { account: "acme", reference: "task-1", amount: 30n }, store.now()));
  return store;
}

Deno.test("listLedgerEntries() lists entries oldest first, a credit by its own reference, a charge with its rows", async () => {
  const { lines, next } = await listLedgerEntries(await storeWithLines(), "acme", { limit: 10 });
  assertEquals(next, null);
  assertEquals(lines.map(({ operation, reference, available, held }) => [operation, reference, available, held]), [
    ["credit", "opening", 100n, 0n],
    ["charge", "charge_1", -15n, 0n],
    ["hold", "task-1", -30n, 30n],
  ]);
  assertEquals(lines.map(({ rows }) => rows.map(({ requestId, amount }) => [requestId, amount])), [
    [],
    [["req_1", 10n], ["req_2", 5n]],
    [],
  ]);
});

Deno.test("listLedgerEntries() pages in both directions", async () => {
  const store = await storeWithLines();
  for (const reverse of [false, true]) {
    const operations: string[] = [];
    let after: string | undefined;
    do {
      const page = await listLedgerEntries(store, "acme", {
        limit: 1,
        reverse,
        ...(after === undefined ? {} : { after }),
      });
      operations.push(...page.lines.map(({ operation }) => operation));
      after = page.next ?? undefined;
    } while (after);
    const oldestFirst = ["credit", "charge", "hold"];
    assertEquals(operations, reverse ? oldestFirst.reverse() : oldestFirst);
  }
});

Deno.test("verifyLedger() counts accounts and entries and finds no difference in correct data", async () => {
  const store = await storeWithLines();
  await createAccount(store, { id: "empty" });
  assertEquals(await verifyLedger(store), { accounts: 2, lines: 3, differences: [] });
});

Deno.test("verifyLedger() reports a balance that changed without an entry", async () => {
  const store = await storeWithLines();
  await store.commit(null, { changeBalances: [{ account: "acme", available: 1n, held: 0n }] });
  assertEquals((await verifyLedger(store)).differences, [{
    kind: "balance",
    account: "acme",
    balance: { available: 56n, held: 30n },
    lines: { available: 55n, held: 30n },
  }]);
});

Deno.test("verifyLedger() reports a charge whose rows do not add up", async () => {
  const store = await storeWithLines();
  const commit = addCharge({}, { account: "acme", reference: "charge_2", rows: [ROW] });
  const [line] = atLeast(commit.ledgerEntries ?? [], 1);
  await store.commit(null, {
    changeBalances: [{ account: "acme", available: -11n, held: 0n }],
    ledgerEntries: [{ ...line, available: -11n }],
  });
  const { differences } = await verifyLedger(store);
  assertEquals(differences.map(({ kind }) => kind), ["rows"]);
});

Deno.test("verifyLedger() reads all pages while balances change", async () => {
  const store = await storeWithLines();
  const charge = (i: number) =>
    store.commit(null, addCharge({}, { account: "acme", reference: `more_${i}`, rows: [ROW] }));
  for (let i = 0; i < 1200; i++) await charge(i);
  let moves = 0;
  const moving = observeStore(store);
  moving.balance = async (account) => {
    if (moves++ < 3) await charge(2000 + moves);
    return store.balance(account);
  };
  const verification = await verifyLedger(moving);
  assertEquals([verification.differences, verification.lines], [[], 1206]);
});
