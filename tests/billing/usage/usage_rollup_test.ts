import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../../src/money/billing/accounts/account.ts";
import { addCharge, type ChargeRow } from "../../../src/money/billing/ledger/charge.ts";
import { creditAccount } from "../../../src/money/billing/accounts/credit.ts";
import { addHold, captureHold, readHold, releaseHold } from "../../../src/money/billing/hold.ts";
import {
  DAY_MS,
  USAGE,
  USAGE_DAYS,
  usageCursorKey,
  type UsageDay,
  usageKey,
  type UsageRecord,
} from "../../../src/money/billing/usage/usage_records.ts";
import type { UsageDimension } from "../../../src/money/billing/usage/usage_group.ts";
import { sumUsage } from "../../../src/money/billing/usage/usage_report.ts";
import { markedLedger, UsageRollup } from "../../../src/money/billing/usage/usage_rollup.ts";
import { type LedgerDifference, verifyLedger } from "../../../src/money/billing/verify_ledger.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import type { Money } from "../../../src/platform/lib/basics/money.ts";
import { changedStore } from "../../../src/platform/store/changed_store.ts";
import type { Key, Store } from "../../../src/platform/store/store.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import { type ManualClock, manualClock, observeStore } from "../support.ts";

const EVERYTHING = { fromDay: 0, toDay: Infinity, only: {} };
const ACCOUNTS = ["acme", "beta"];

function row(fields: Partial<ChargeRow> & { readonly at: number }): ChargeRow {
  return { requestId: "req_1", keyId: "key_1", kind: "text", model: "acme/m", provider: "one", amount: 10n, ...fields };
}

async function stage() {
  const clock = manualClock();
  const plain = await openMemoryStore({ clock });
  for (const account of ACCOUNTS) await createAccount(plain, { id: account, balance: 1_000_000n });
  return { clock, plain, rollup: new UsageRollup({ store: plain, clock, log: silentLog }) };
}

async function charge(store: Store, account: string, reference: string, rows: readonly ChargeRow[]): Promise<void> {
  await store.commit(null, addCharge({}, { account, reference, rows }));
}

async function groupsBy(store: Store, ...groupBy: UsageDimension[]) {
  const { groups, total } = await sumUsage(store, { ...EVERYTHING, groupBy });
  return { groups: groups.map(({ values, sums }) => [...values, sums.cost]), total: total.cost };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("usage is summed by account, key, model, provider, kind and day of the request", async () => {
  const { plain, rollup, clock } = await stage();
  const at = clock.now();
  await charge(plain, "acme", "c1", [
    row({ at }),
    row({ at: at - DAY_MS, amount: 5n }),
    row({ at, keyId: null, model: "acme/n", amount: 3n }),
  ]);
  await charge(plain, "beta", "c2", [row({ at, kind: "image", provider: "two", amount: 2n })]);
  await rollup.foldAll();
  const today = Math.floor(at / DAY_MS);
  const { groups, total } = await groupsBy(plain, "account", "key", "day");
  assertEquals(groups, [
    ["acme", null, today, 3n],
    ["acme", "key_1", today - 1, 5n],
    ["acme", "key_1", today, 10n],
    ["beta", "key_1", today, 2n],
  ]);
  assertEquals(total, 20n);
  assertEquals((await groupsBy(plain, "model")).groups, [["acme/m", 17n], ["acme/n", 3n]]);
  assertEquals((await groupsBy(plain, "provider", "kind")).groups, [["one", "text", 18n], ["two", "image", 2n]]);
  const ofBeta = await sumUsage(plain, { ...EVERYTHING, only: { account: "beta" }, groupBy: [] });
  assertEquals(ofBeta.groups.map(({ sums }) => sums.cost), [2n]);
});

Deno.test("tokens, pictures and seconds are summed, and a capture counts at its own time", async () => {
  const { plain, rollup, clock } = await stage();
  const usage = { freshTokens: 7, cacheReadTokens: 3, cacheWrite1hTokens: 2, outputTokens: 5, reasoningTokens: 4 };
  await charge(plain, "acme", "c1", [
    row({ at: clock.now(), usage }),
    row({ at: clock.now(), usage: { freshTokens: 1, imagesMade: 2, webSearches: 1, estimated: true } }),
  ]);
  await plain.commit(null, addHold({}, { account: "acme", reference: "t", amount: 50n }, clock.now()));
  clock.advance(DAY_MS);
  const hold = (await readHold(plain, "t"))!;
  const detail = { key: "key_2", model: "acme/v", provider: "film", status: "completed", seconds: 5 };
  await plain.commit(null, captureHold({}, hold, 40n, clock.now(), detail).commit);
  await rollup.foldAll();
  const { groups } = await sumUsage(plain, { ...EVERYTHING, groupBy: ["kind", "day", "provider"] });
  const day = Math.floor(clock.now() / DAY_MS);
  assertEquals(groups, [
    { values: ["text", day - 1, "one"], sums: { cost: 20n, counts: [2, 1, 13, 3, 2, 5, 4, 2, 1] } },
    { values: ["video", day, "film"], sums: { cost: 40n, counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 5] } },
  ]);
});

Deno.test("spentSince() returns the charges since a day, and the open holds, of an account or a key", async () => {
  const { plain, rollup, clock } = await stage();
  const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  await charge(plain, "acme", "c1", [
    row({ at: today - 1, amount: 1n }),
    row({ at: today, amount: 2n }),
    row({ at: today, amount: 4n, keyId: "key_2" }),
  ]);
  const hold = { account: "acme", reference: "t", amount: 50n, detail: { key: "key_2" } };
  await plain.commit(null, addHold({}, hold, clock.now()));
  assertEquals(await rollup.spentSince("acme", null, today), { charged: 6n, held: 50n });
  assertEquals(await rollup.spentSince("acme", "key_2", today), { charged: 4n, held: 50n });
  assertEquals(await rollup.spentSince("acme", "key_1", 0), { charged: 3n, held: 0n });
  const open = (await readHold(plain, "t"))!;
  await plain.commit(null, captureHold({}, open, 20n, clock.now(), { key: "key_2" }).commit);
  assertEquals(await rollup.spentSince("acme", "key_2", today), { charged: 24n, held: 0n });
  assertEquals(await rollup.spentSince("none", null, 0), { charged: 0n, held: 0n });
  await assertRejects(() => rollup.spentSince("acme", null, today + 1), RangeError);
});

Deno.test("entries with many long names are counted within the limits of a commit", async () => {
  const { plain, rollup } = await stage();
  const name = (nth: number) => "m".repeat(60) + nth;
  for (let entry = 0; entry < 5; entry++) {
    const rows = Array.from(
      { length: 200 },
      (_, nth) => row({ at: nth, model: name(200 * entry + nth), provider: name(nth), keyId: `key_${nth}` }),
    );
    await charge(plain, "acme", `charge_${entry}`, rows);
  }
  await rollup.foldAll();
  const { groups, total } = await groupsBy(plain, "model");
  assertEquals([groups.length, total], [1_000, 10_000n]);
});

Deno.test("a start counts what an earlier process left, and a minute later what was added since", async () => {
  const { plain, clock } = await stage();
  await charge(plain, "acme", "c1", [row({ at: 1 })]);
  const rollup = new UsageRollup({ store: plain, clock, log: silentLog });
  const store = markedLedger(plain, (account) => rollup.mark(account));
  const runner = rollup.start();
  await rollup.foldAll();
  assertEquals((await groupsBy(plain)).total, 10n);
  await charge(store, "beta", "c2", [row({ at: 1 })]);
  await turns();
  assertEquals((await groupsBy(plain)).total, 10n);
  clock.advance(60_000);
  await turns();
  assertEquals((await groupsBy(plain)).total, 20n);
  await runner.drain(0);
  await charge(store, "beta", "c3", [row({ at: 1 })]);
  clock.advance(60_000);
  await turns();
  assertEquals((await groupsBy(plain)).total, 20n);
});

Deno.test("verifyLedger() names usage that is not that of the ledger", async () => {
  const { plain, rollup, clock } = await stage();
  await charge(plain, "acme", "c1", [row({ at: clock.now() })]);
  await rollup.foldAll();
  assertEquals((await verifyLedger(plain)).differences, []);
  const day = Math.floor(clock.now() / DAY_MS);
  await plain.commit(null, { set: [{ key: ["usage", "key_spent", "acme", "key_1", day], value: 11n }] });
  await plain.commit(null, { set: [{ key: ["usage", "key_spent", "acme", "key_9", day], value: 1n }] });
  assertEquals((await verifyLedger(plain)).differences, [{
    kind: "usage",
    account: "acme",
    values: [`usage/key_spent/acme/key_1/${day}`, `usage/key_spent/acme/key_9/${day}`],
  }]);
});

Deno.test("reports read the copies of past days, and the records of days that have changed since", async () => {
  const { plain, rollup, clock } = await stage();
  const today = Math.floor(clock.now() / DAY_MS);
  const rows = Array.from(
    { length: 150 },
    (_, nth) => row({ at: clock.now() - (nth % 3) * DAY_MS, keyId: `key_${nth}`, model: `acme/${nth % 2}` }),
  );
  await charge(plain, "acme", "c1", rows);
  await rollup.foldAll();
  await rollup.copyDays();
  const copies = await plain.scan<UsageDay>(USAGE_DAYS, { limit: 9 });
  assertEquals(copies.map(({ key, value }) => [key.at(-1), value.blocks]), [
    [today - 2, { records: 1, models: 1 }],
    [today - 1, { records: 1, models: 1 }],
  ]);
  // A record that no copy has would only be found by a scan.
  const hidden = usageKey(today - 2, "hidden", { key: null, model: "acme/0", provider: "one", kind: "text" });
  const source = { key: null, model: "acme/0", provider: "one", kind: "text" as const };
  await plain.commit(null, { set: [{ key: hidden, value: { ...source, cost: 1n, counts: [] } }] });
  assertEquals((await groupsBy(plain, "day", "model")).total, 1_500n);
  const day = new Date((today - 2) * DAY_MS).toISOString().slice(0, 10);
  const copyOf = (found: readonly LedgerDifference[]) => found.filter(({ kind }) => kind === "usage_copy");
  assertEquals(copyOf((await verifyLedger(plain)).differences), [{ kind: "usage_copy", day }]);
  assertEquals((await groupsBy(plain, "day", "key")).groups.length, 150);
  await charge(plain, "beta", "c2", [row({ at: clock.now() - 2 * DAY_MS })]);
  rollup.mark("beta");
  await rollup.foldAll();
  assertEquals((await groupsBy(plain, "day")).groups, [[today - 2, 511n], [today - 1, 500n], [today, 500n]]);
  assertEquals(copyOf((await verifyLedger(plain)).differences), []);
});

Deno.test("a change of records or a kill at any commit of a copy leaves sums of all records", async () => {
  for (let commits = 0; commits < 10; commits++) {
    for (const isKilled of [false, true]) {
      const { plain, rollup, clock } = await stage();
      await charge(plain, "acme", "c1", [row({ at: clock.now() - DAY_MS }), row({ at: clock.now() - 2 * DAY_MS })]);
      await rollup.foldAll();
      await changedCopy(plain, clock, { commits, isKilled });
      await assertSumsAreOfRecords(plain);
      await new UsageRollup({ store: plain, clock, log: silentLog }).copyDays();
      await assertSumsAreOfRecords(plain);
      const copies = await plain.scan<UsageDay>(USAGE_DAYS, { limit: 9 });
      assertEquals(copies.map(({ value }) => value.blocks?.records), [1, 1]);
      assertEquals((await plain.scan(["usage", "block"], { limit: 99 })).length, 4);
    }
  }
});

Deno.test("a report whose copies are replaced while it reads them is that of the records", async () => {
  for (const replacements of [1, 2, 9]) {
    const { plain, rollup, clock } = await stage();
    const at = clock.now() - DAY_MS;
    await charge(plain, "acme", "c1", [row({ at }), row({ at: at - DAY_MS })]);
    await rollup.foldAll();
    await rollup.copyDays();
    let left = replacements;
    const store = changedStore(plain, {
      async get<T>(keys: readonly Key[]) {
        if (keys[0]?.[1] === "block" && left-- > 0) {
          for (const { key } of await plain.scan(USAGE_DAYS, { limit: 9 })) await plain.commit(null, { delete: [key] });
          await new UsageRollup({ store: plain, clock, log: silentLog }).copyDays();
        }
        return await plain.get<T>(keys);
      },
    });
    const { groups } = await sumUsage(store, { ...EVERYTHING, groupBy: ["day"] });
    assertEquals(groups.map(({ sums }) => sums.cost), [10n, 10n]);
    assertEquals(left, replacements - Math.min(replacements + 1, 2));
  }
});

Deno.test("copies are removed when a version without them has counted", async () => {
  const { plain, rollup, clock } = await stage();
  const at = clock.now() - DAY_MS;
  await charge(plain, "acme", "c1", [row({ at })]);
  await rollup.foldAll();
  await rollup.copyDays();
  // The earlier version changes a record and the cursor, and leaves the copy.
  const [record] = await plain.scan<UsageRecord>(USAGE, { limit: 1 });
  await charge(plain, "acme", "c2", [row({ at })]);
  const last = (await plain.ledger("acme", { limit: 9 })).at(-1)!;
  await plain.commit(null, {
    set: [
      { key: record!.key, value: { ...record!.value, cost: 20n } },
      { key: usageCursorKey("acme"), value: { entry: last.id } },
    ],
  });
  const next = new UsageRollup({ store: plain, clock, log: silentLog });
  await next.foldAll();
  assertEquals((await groupsBy(plain, "day")).total, 20n);
  await next.copyDays();
  assertEquals((await plain.scan<UsageDay>(USAGE_DAYS, { limit: 9 })).length, 1);
  assertEquals((await groupsBy(plain, "day")).total, 20n);
});

interface ChargeStep {
  readonly kind: "charge";
  readonly account: string;
  readonly rows: readonly { readonly key: number; readonly day: number; readonly amount: number }[];
}

interface HoldStep {
  readonly kind: "hold" | "capture" | "release";
  readonly account: string;
  readonly task: number;
  readonly amount: number;
}

/** A step of a walk. A `kill` ends the process before its next pass; a pass that fails may have been written. */
type Step =
  | ChargeStep
  | HoldStep
  | { readonly kind: "credit"; readonly account: string }
  | { readonly kind: "fold" }
  | { readonly kind: "kill" }
  /** A day passes, and the days before it are copied. */
  | { readonly kind: "copy"; readonly days: number }
  /** The records change, or the process ends, when a copy has made this number of commits. */
  | { readonly kind: "copy-changed"; readonly commits: number; readonly isKilled: boolean }
  | { readonly kind: "fail"; readonly isWritten: boolean };

const account = fc.constantFrom(...ACCOUNTS);
const rows = fc.array(fc.record({ key: fc.nat(2), day: fc.nat(3), amount: fc.integer({ min: 1, max: 9 }) }), {
  minLength: 1,
  maxLength: 40,
});
const walks: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("charge" as const), account, rows }),
    fc.record({
      kind: fc.constantFrom("hold" as const, "capture" as const, "release" as const),
      account,
      task: fc.nat(3),
      amount: fc.nat(20),
    }),
    fc.record({ kind: fc.constant("credit" as const), account }),
    fc.record({ kind: fc.constant("fold" as const) }),
    fc.record({ kind: fc.constant("kill" as const) }),
    fc.record({ kind: fc.constant("copy" as const), days: fc.nat(2) }),
    fc.record({ kind: fc.constant("copy-changed" as const), commits: fc.nat(12), isKilled: fc.boolean() }),
    fc.record({ kind: fc.constant("fail" as const), isWritten: fc.boolean() }),
  ),
  { maxLength: 60 },
);

Deno.test("after any walk with failures and kills, usage is that of the ledger to the last unit", async () => {
  await fc.assert(
    fc.asyncProperty(walks, async (walk) => {
      const { clock, plain, rollup: first } = await stage();
      let rollup = first;
      let store = markedLedger(plain, (each) => first.mark(each));
      for (const [nth, step] of walk.entries()) {
        if (step.kind === "kill") {
          const next = rollup = new UsageRollup({ store: plain, clock, log: silentLog });
          store = markedLedger(plain, (each) => next.mark(each));
        } else if (step.kind === "fold") {
          await rollup.foldAll();
        } else if (step.kind === "copy") {
          clock.advance(step.days * DAY_MS);
          await rollup.copyDays();
          await assertSumsAreOfRecords(plain);
        } else if (step.kind === "copy-changed") {
          await changedCopy(plain, clock, step);
          await assertSumsAreOfRecords(plain);
        } else if (step.kind === "fail") {
          await failingFold(plain, clock, step.isWritten);
        } else if (step.kind === "credit") {
          await creditAccount(store, step.account, 5n);
        } else if (step.kind === "charge") {
          await chargeAll(store, clock, step, nth);
        } else {
          await changeHold(store, clock, step);
        }
      }
      await rollup.foldAll();
      await assertSumsAreOfRecords(plain);
      const { groups } = await groupsBy(plain, "account", "key");
      assertEquals(new Map(groups.map(([who, key, sum]) => [`${who} ${key}`, sum])), await ledgerSums(plain));
      assertEquals((await verifyLedger(plain)).differences, []);
    }),
    { numRuns: 60 },
  );
});

let lateCharges = 0;

/** Copies days, while charges of those days are counted or until the process ends. */
async function changedCopy(
  plain: Store,
  clock: ManualClock,
  { commits, isKilled }: { readonly commits: number; readonly isKilled: boolean },
): Promise<void> {
  const store = observeStore(plain);
  let left = commits;
  store.beforeCommit = async () => {
    if (left-- !== 0) return;
    if (isKilled) throw new Error("The process ends");
    await charge(plain, "acme", `late_${lateCharges++}`, [
      row({ at: clock.now() - DAY_MS }),
      row({ at: clock.now() - 2 * DAY_MS, model: "acme/late" }),
    ]);
    await new UsageRollup({ store: plain, clock, log: silentLog }).foldAll();
  };
  await new UsageRollup({ store, clock, log: silentLog }).copyDays().catch(() => {});
}

/** Compares reports, which read copies of days, with the sums of all records. */
async function assertSumsAreOfRecords(store: Store): Promise<void> {
  for (const groupBy of [["day", "model"], ["account", "day"], ["key", "provider"]] as const) {
    const expected = new Map<string, Money>();
    for (const { key: [, , day, account], value } of await store.scan<UsageRecord>(USAGE, { limit: 100_000 })) {
      const fields = { ...value, day, account };
      const name = groupBy.map((dimension) => String(fields[dimension])).join(" ");
      expected.set(name, (expected.get(name) ?? 0n) + value.cost);
    }
    const { groups } = await groupsBy(store, ...groupBy);
    const found = new Map(groups.map((values) => [values.slice(0, -1).join(" "), values.at(-1)]));
    for (const name of expected.keys()) assertEquals(found.get(name.replaceAll("null", "")), expected.get(name), name);
    assertEquals(found.size, expected.size);
  }
}

/** A pass whose commits fail, before or after they are written. */
async function failingFold(plain: Store, clock: ManualClock, isWritten: boolean): Promise<void> {
  const store = observeStore(plain);
  const fail = () => {
    throw new Error("The disk is full");
  };
  if (isWritten) store.afterCommit = fail;
  else store.beforeCommit = fail;
  await new UsageRollup({ store, clock, log: silentLog }).foldAll().catch(() => {});
}

async function chargeAll(store: Store, clock: ManualClock, { account, rows }: ChargeStep, nth: number): Promise<void> {
  const charged = rows.map(({ key, day, amount }) =>
    row({ at: clock.now() - day * DAY_MS, keyId: key === 0 ? null : `key_${key}`, amount: BigInt(amount) })
  );
  await charge(store, account, `charge_${nth}`, charged);
}

async function changeHold(store: Store, clock: ManualClock, { kind, account, task, amount }: HoldStep): Promise<void> {
  const [reference, detail] = [`${account}-${task}`, { key: `key_${task}` }];
  const hold = await readHold(store, reference);
  if (kind === "hold" && hold === null) {
    await store.commit(null, addHold({}, { account, reference, amount: BigInt(amount), detail }, clock.now()));
  } else if (kind === "capture" && hold?.state === "open") {
    await store.commit(null, captureHold({}, hold, BigInt(amount), clock.now(), detail, 1_000n).commit);
  } else if (kind === "release" && hold?.state === "open") {
    await store.commit(null, releaseHold({}, hold, clock.now(), detail));
  }
}

/** What was spent by account and key, read from the ledger without the code under test. */
async function ledgerSums(store: Store): Promise<Map<string, Money>> {
  const sums = new Map<string, Money>();
  const add = (name: string, amount: Money) => void sums.set(name, (sums.get(name) ?? 0n) + amount);
  for (const account of ACCOUNTS) {
    for (const { operation, available, held, detail } of await store.ledger(account, { limit: 10_000 })) {
      if (operation === "capture") add(`${account} ${(detail as { key: string }).key}`, -(available + held));
      if (operation !== "charge") continue;
      const stored = JSON.parse((detail as { rows: string }).rows) as (string | undefined)[][];
      for (const each of stored) add(`${account} ${each[7] ?? null}`, BigInt(each[5] ?? "0"));
    }
  }
  return sums;
}
