import { assert, assertEquals, assertThrows } from "@std/assert";
import { serialize } from "node:v8";
import {
  addCharge,
  areRowsFitting,
  type ChargeRow,
  chargeRowsOf,
  readWrittenRow,
  totalOf,
  writeRow,
} from "../../src/money/billing/ledger/charge.ts";
import { MIN_STORE_LIMITS } from "../../src/platform/store/store.ts";
import { NO_USAGE } from "../../src/conversation/neutral/usage.ts";
import { atLeast, itemAt } from "../support/items.ts";

const ROW: ChargeRow = {
  requestId: "req_0123456789abcdef01234567",
  keyId: "key_0123456789abcdef0123456789ab",
  at: 1_790_000_000_123,
  kind: "text",
  model: "acme/large",
  provider: "acme",
  amount: 12_345n,
  usage: { ...NO_USAGE, freshTokens: 10, outputTokens: 5 },
};

Deno.test("addCharge() takes the sum of its rows once and lists them in one ledger entry", () => {
  const commit = addCharge({}, { account: "acme", reference: "charge_1", rows: [ROW, { ...ROW, amount: 5n }] });
  assertEquals(commit.changeBalances, [{ account: "acme", available: -12_350n, held: 0n, overdraw: true }]);
  assertEquals(commit.ledgerEntries?.length, 1);
  const [entry] = atLeast(commit.ledgerEntries ?? [], 1);
  assertEquals(chargeRowsOf({ ...entry, id: "1", at: 0 }), [
    { ...ROW, usage: { freshTokens: 10, outputTokens: 5 } },
    { ...ROW, amount: 5n, usage: { freshTokens: 10, outputTokens: 5 } },
  ]);
});

Deno.test("addCharge() keeps the other parts of the commit", () => {
  const key = ["cache", "1"];
  const commit = addCharge({ set: [{ key, value: 1 }], changeBalances: [{ account: "b", available: 1n, held: 0n }] }, {
    account: "acme",
    reference: "cache-1",
    rows: [ROW],
  });
  assertEquals([commit.set?.length, commit.changeBalances?.length, commit.ledgerEntries?.length], [1, 2, 1]);
});

Deno.test("a charge of zero or below is refused", () => {
  for (const amount of [0n, -1n]) assertThrows(() => totalOf([ROW, { ...ROW, amount }]), RangeError);
});

Deno.test("rows that fit never exceed the limits of the store, however large they are", () => {
  const most = 1e10;
  const usage = {
    freshTokens: most,
    cacheReadTokens: most,
    cacheWrite5mTokens: most,
    cacheWrite1hTokens: most,
    toolPromptTokens: most,
    outputTokens: most,
    reasoningTokens: most,
    estimated: true,
  };
  for (const model of ["a/b", "acme/" + "m".repeat(40), "模".repeat(500)]) {
    const row = { ...ROW, model, usage, amount: 10n ** 17n };
    let count = 0;
    while (areRowsFitting({ count: count + 1, characters: (count + 1) * writeRow(row).length }, MIN_STORE_LIMITS)) {
      count++;
    }
    const commit = addCharge({}, { account: "acme", reference: "charge_1", rows: Array(count).fill(row) });
    assert(serialize(itemAt(commit.ledgerEntries ?? [], 0).detail).length < 50_000);
    assert(count > 20 && count <= 200);
  }
});

Deno.test("rows of earlier versions, which name no key, are read", () => {
  const { usage: _, ...uncounted } = { ...ROW, keyId: null };
  assertEquals(readWrittenRow(`[1,"text","r","m","p","5"]`), {
    ...uncounted,
    at: 1,
    requestId: "r",
    model: "m",
    provider: "p",
    amount: 5n,
  });
  assertEquals(readWrittenRow(`[1,"text","r","m","p","5",[10,0,0,0,0,5]]`).keyId, null);
});

Deno.test("a written row is one line, and reading undoes writing", () => {
  const row = { ...ROW, model: "a\nb\u2028", usage: { freshTokens: 10, imagesMade: 2 } };
  assert(!writeRow(row).includes("\n"));
  assertEquals(readWrittenRow(writeRow(row)), row);
  for (const each of [{ ...row, keyId: null }, { ...ROW, usage: {} }]) {
    assertEquals(readWrittenRow(writeRow(each)), each);
  }
  const { usage: _, ...uncounted } = row;
  assertEquals(readWrittenRow(writeRow(uncounted)), uncounted);
  for (const text of ["", "[]", "{}", writeRow({ ...ROW, amount: 0n })]) assertThrows(() => readWrittenRow(text));
});
