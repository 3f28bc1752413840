import { assert, assertEquals, assertRejects } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { chargeRowsOf } from "../../src/money/billing/ledger/charge.ts";
import { addHold } from "../../src/money/billing/hold.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import type { Charge, LedgerMeter } from "../../src/money/billing/meter/meter.ts";
import { replayCharges } from "../../src/money/billing/ledger/replay_charges.ts";
import { settledStore } from "../../src/money/billing/meter/settled_store.ts";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import { decodeRecords } from "../../src/platform/store/journal/record.ts";
import { Journal, type JournalSink } from "../../src/platform/store/journal/journal.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import { concatBytes } from "../../src/platform/lib/bytes/concat_bytes.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { itemAt } from "../support/items.ts";
import { eventLoopTurn, type ManualClock, manualClock, observeStore, recordingLog } from "./support.ts";
import { unlimitedKey } from "../support/callers.ts";

const CHARGE: Charge = {
  requestId: "req_1",
  keyId: "key_1",
  kind: "text",
  model: "acme/large",
  provider: "acme",
  amount: 10n,
};
const BALANCE = 1_000_000n;
const TICK_MS = 40;

/** A sink in memory, whose appends a test can make fail or wait. */
function memorySink() {
  const pieces: Uint8Array[] = [];
  const removed: number[] = [];
  const sink: JournalSink & { failAfterBytes: number | null; synced: Promise<void> | null } = {
    failAfterBytes: null,
    synced: null,
    append(_segment, bytes) {
      pieces.push(bytes.slice(0, sink.failAfterBytes ?? bytes.length));
      if (sink.failAfterBytes !== null) throw new Error("disk full");
      if (sink.synced !== null) return sink.synced;
    },
    remove: (segment) => void removed.push(segment),
    close: () => Promise.resolve(),
  };
  return { sink, removed, bytes: () => concatBytes(pieces) };
}

async function stage(options: { accounts?: readonly string[]; maxSegmentBytes?: number } = {}) {
  const { accounts = ["acme"], maxSegmentBytes = 1_000_000 } = options;
  const clock = manualClock();
  const store = observeStore(await openMemoryStore({ clock }));
  const log = recordingLog();
  for (const id of accounts) await createAccount(store, { id, balance: BALANCE });
  store.commits.length = 0;
  const journal = new Journal({ log, maxSegmentBytes });
  const memory = memorySink();
  journal.open(memory.sink, 1);
  const meter = createMeter({ store, clock, log, journal });
  const settled = settledStore(store as unknown as StoreEngine, meter);
  const events = () => log.lines.map(({ event }) => event);
  return { clock, store, log, journal, meter, settled, events, ...memory };
}

async function charge(meter: LedgerMeter, amount: Money = 10n, account = "acme"): Promise<void> {
  await (await meter.admit(unlimitedKey(account), amount)).charge({ ...CHARGE, amount });
}

/** Charges without waiting. Returns what `charge` returned. */
async function chargeNow(meter: LedgerMeter, charge: Partial<Charge> = {}): Promise<{ result: void | Promise<void> }> {
  const admission = await meter.admit(unlimitedKey("acme"), charge.amount ?? 10n);
  return { result: admission.charge({ ...CHARGE, ...charge }) };
}

async function tick(clock: ManualClock): Promise<void> {
  clock.advance(TICK_MS);
  for (let turns = 0; turns < 5; turns++) await eventLoopTurn();
}

const NO_SPACE = () => {
  throw new Error("disk full");
};

Deno.test("a journaled charge returns nothing, counts at once, and is in the ledger 40 ms later", async () => {
  const { meter, store, clock, bytes } = await stage();
  const { result } = await chargeNow(meter);
  assertEquals([result, store.commits.length], [undefined, 0]);
  assertEquals(decodeRecords(bytes()).texts.length, 1);
  await assertRejects(async () => await meter.admit(unlimitedKey("acme"), BALANCE - 9n), GatewayError, "not reserved");
  await tick(clock);
  assertEquals(store.commits.length, 1);
  assertEquals((await store.balance("acme")).available, BALANCE - 10n);
});

Deno.test("charges after a settled one are written by the next tick", async () => {
  const { meter, store, settled, clock } = await stage();
  await charge(meter);
  assertEquals((await settled.balance("acme")).available, BALANCE - 10n);
  await tick(clock);
  await charge(meter);
  await tick(clock);
  assertEquals((await store.balance("acme")).available, BALANCE - 20n);
});

Deno.test("the charges of many accounts are written by one tick, each account's in one entry", async () => {
  const accounts = Array.from({ length: 100 }, (_, i) => `acme-${i}`);
  const { meter, store, clock } = await stage({ accounts });
  for (const account of accounts) {
    for (let i = 0; i < 3; i++) await charge(meter, 10n, account);
  }
  for (let turns = 0; turns < 10; turns++) await tick(clock);
  assertEquals(store.commits.length, 100);
  for (const account of accounts) assertEquals((await store.balance(account)).available, BALANCE - 30n);
});

Deno.test("no prompt and no secret is in the journal: a record is a reference, an account and a row", async () => {
  const { meter, bytes } = await stage();
  await charge(meter);
  assert(
    /^charge_\w+ acme \[\d+,"text","req_1","acme\/large","acme","10",null,"key_1"\]$/.test(
      itemAt(decodeRecords(bytes()).texts, 0),
    ),
  );
});

Deno.test("when the journal takes no record, the charge waits for the ledger", async () => {
  const { meter, store, sink, bytes } = await stage();
  for (const failAfterBytes of [0, 5, 1_000]) {
    sink.failAfterBytes = failAfterBytes;
    const { result } = await chargeNow(meter);
    assert(result instanceof Promise);
    await result;
  }
  assertEquals((await store.balance("acme")).available, BALANCE - 30n);
  await replayCharges(store, decodeRecords(bytes()).texts);
  assertEquals((await store.balance("acme")).available, BALANCE - 30n, "a record that was whole is not charged again");
});

Deno.test("when journal and ledger take nothing, the caller gets an error and the charge is written later", async () => {
  const { meter, store, sink, clock, events } = await stage();
  await charge(meter);
  sink.failAfterBytes = 0;
  store.beforeCommit = NO_SPACE;
  const { result } = await chargeNow(meter);
  const rejected = assertRejects(() => Promise.resolve(result), GatewayError);
  for (let i = 0; i < 40; i++) await tick(clock);
  assertEquals((await rejected).code, "storage_unavailable");
  assert(events().includes("charge_delayed"));
  store.beforeCommit = () => {};
  for (let i = 0; i < 60; i++) await tick(clock);
  assertEquals((await store.balance("acme")).available, BALANCE - 20n);
});

Deno.test("charges that only the ledger refuses stay in the journal, are retried, and are not lost at the end", async () => {
  const { meter, store, clock, events, removed, journal, bytes } = await stage();
  store.beforeCommit = NO_SPACE;
  assertEquals((await chargeNow(meter)).result, undefined);
  for (let i = 0; i < 40; i++) await tick(clock);
  assert(events().includes("charge_delayed"));
  await meter.flush();
  await journal.close();
  assertEquals([events().includes("charge_lost"), events().includes("charge_in_journal")], [false, true]);
  assertEquals(removed, [], "its segment stays");
  store.beforeCommit = () => {};
  assertEquals(await replayCharges(store, decodeRecords(bytes()).texts), { written: 1, present: 0, unusable: 0 });
  assertEquals((await store.balance("acme")).available, BALANCE - 10n);
});

Deno.test("a segment is removed once all its charges are in the ledger", async () => {
  const { meter, clock, removed, journal } = await stage({ maxSegmentBytes: 100 });
  for (let i = 0; i < 4; i++) await charge(meter);
  assertEquals(removed, []);
  await tick(clock);
  assertEquals(removed, [1, 2, 3].slice(0, removed.length));
  assert(removed.length > 0);
  await journal.close();
  assertEquals(removed.length, journal.segment - 1);
});

Deno.test("with a sync, the charge resolves when it is synced, and a failed sync falls back to the ledger", async () => {
  const { meter, store, sink } = await stage();
  const order: string[] = [];
  const synced = Promise.withResolvers<void>();
  sink.synced = synced.promise;
  const { result } = await chargeNow(meter);
  const charged = Promise.resolve(result).then(() => order.push("charged"));
  await eventLoopTurn();
  assertEquals([order, store.commits.length], [[], 0]);
  order.push("synced");
  synced.resolve();
  await charged;
  assertEquals([order, store.commits.length], [["synced", "charged"], 0]);

  sink.synced = Promise.reject(new Error("EIO"));
  sink.synced.catch(() => {});
  await (await chargeNow(meter)).result;
  assertEquals((await store.balance("acme")).available, BALANCE - 20n);
});

Deno.test("a charge whose sync fails after the ledger refused it for good rejects", async () => {
  const { meter, store, sink, clock, settled, events } = await stage();
  const synced = Promise.withResolvers<void>();
  sink.synced = synced.promise;
  const { result } = await chargeNow(meter);
  store.commit = () => Promise.resolve({ ok: false, why: "conflict", at: 0 });
  const read = settled.balance("acme");
  for (let i = 0; i < 40; i++) await tick(clock);
  await read;
  synced.reject(new Error("EIO"));
  const { code } = await assertRejects(() => Promise.resolve(result), GatewayError);
  assertEquals([code, events().filter((event) => event === "charge_lost").length], ["internal_error", 1]);
});

Deno.test("a hold sees the charges that are only in the journal", async () => {
  const { meter, settled, clock } = await stage();
  await charge(meter, BALANCE - 50n);
  const hold = (amount: Money, reference: string) =>
    settled.commit(null, addHold({}, { account: "acme", reference, amount }, clock.now()));
  assertEquals(await hold(51n, "task_1"), { ok: false, why: "short", at: 0 });
  assertEquals((await hold(50n, "task_2")).ok, true);
});

Deno.test("a hold is refused with storage_unavailable while the charges before it cannot be written", async () => {
  const { meter, store, settled, clock } = await stage();
  await charge(meter);
  let isFull = true;
  store.beforeCommit = () => isFull ? NO_SPACE() : undefined;
  const held = settled.commit(null, addHold({}, { account: "acme", reference: "t", amount: 1n }, clock.now()));
  const rejected = assertRejects(() => held, GatewayError);
  for (let i = 0; i < 40; i++) await tick(clock);
  assertEquals((await rejected).code, "storage_unavailable");
  isFull = false;
  const later = settled.commit(null, addHold({}, { account: "acme", reference: "t", amount: 1n }, clock.now()));
  assertEquals((await later).ok, true, "the delayed charge is retried at once");
  assertEquals((await store.balance("acme")).available, BALANCE - 11n);
});

Deno.test("balances and ledgers include the charges that are only in the journal", async () => {
  const { meter, settled } = await stage();
  for (let i = 0; i < 3; i++) await charge(meter);
  assertEquals((await settled.balance("acme")).available, BALANCE - 30n);
  await charge(meter);
  const [entry] = await settled.ledger("acme", { limit: 1, reverse: true });
  assertEquals(entry && chargeRowsOf(entry).length, 1);
  await charge(meter);
  assertEquals((await verifyLedger(settled)).differences, []);
  assertEquals((await settled.balance("acme")).available, BALANCE - 50n);
});

Deno.test("balances and ledgers can be read while the ledger takes no charges", async () => {
  const { meter, store, settled, clock } = await stage();
  await charge(meter);
  store.beforeCommit = NO_SPACE;
  const read = settled.balance("acme");
  for (let i = 0; i < 40; i++) await tick(clock);
  assertEquals((await read).available, BALANCE);
});

/** A journal of eight charges in three groups, the second of which is in the ledger. */
async function journalOfGroups() {
  const { meter, store, clock, bytes } = await stage();
  const groups: string[][] = [];
  for (const requests of [["a", "b", "c"], ["d", "e"], ["f", "g", "h"]]) {
    for (const requestId of requests) await chargeNow(meter, { requestId, amount: BigInt(requestId.charCodeAt(0)) });
    groups.push(requests);
    await tick(clock);
  }
  assertEquals(store.commits.length, 3);
  return { bytes: bytes(), committed: itemAt(store.commits, 1), groups };
}

Deno.test("a journal cut at every byte charges each whole record once, also next to a group in the ledger", async () => {
  const { bytes, committed } = await journalOfGroups();
  for (const hasLedger of [false, true]) {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const store = await openMemoryStore({ clock: manualClock() });
      await createAccount(store, { id: "acme", balance: BALANCE });
      if (hasLedger) await store.commit(null, committed);
      const { texts } = decodeRecords(bytes.subarray(0, cut));
      for (let replay = 0; replay < 2; replay++) await replayCharges(store, texts);
      const whole = "abcdefgh".slice(0, texts.length).split("");
      const expected = new Set([...whole, ...hasLedger ? ["d", "e"] : []]);
      const entries = await store.ledger("acme", { limit: 100 });
      const charged = entries.flatMap(chargeRowsOf);
      assertEquals(charged.map(({ requestId }) => requestId).sort(), [...expected].sort(), `cut at ${cut}`);
      const spent = charged.reduce((sum, { amount }) => sum + amount, 0n);
      assertEquals((await store.balance("acme")).available, BALANCE - spent);
    }
  }
});

Deno.test("a replay counts what it cannot read, and charges the rest", async () => {
  const { bytes } = await journalOfGroups();
  const store = await openMemoryStore({ clock: manualClock() });
  await createAccount(store, { id: "acme", balance: BALANCE });
  const texts = ["", "charge_1 acme []", 'charge_1 a/b [1,"text","r","m","p","1"]', ...decodeRecords(bytes).texts];
  assertEquals(await replayCharges(store, texts), { written: 3, present: 0, unusable: 3 });
});

Deno.test("a replay rejects when the store takes no writes, and can be repeated", async () => {
  const { bytes } = await journalOfGroups();
  const store = observeStore(await openMemoryStore({ clock: manualClock() }));
  await createAccount(store, { id: "acme", balance: BALANCE });
  store.beforeCommit = NO_SPACE;
  const { texts } = decodeRecords(bytes);
  await assertRejects(() => replayCharges(store, texts), Error, "disk full");
  store.beforeCommit = () => {};
  assertEquals((await replayCharges(store, texts)).written, 3);
});
