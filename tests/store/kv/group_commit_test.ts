import { assert, assertEquals, assertRejects } from "@std/assert";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { StoreWriteError } from "../../../src/platform/store/store_errors.ts";
import type { KvStore } from "../../../src/platform/store/kv/kv_store.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { itemAt } from "../../support/items.ts";
import { type KvFaults, openFaultyKv } from "./faulty_kv.ts";
import type { Commit } from "../../../src/platform/store/store.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

async function withStore(run: (store: KvStore, faults: KvFaults) => Promise<void>): Promise<void> {
  const faults: KvFaults = {};
  const clock = new ManualClock();
  const store = await openKvStore({ path: ":memory:", clock, log: silentLog, openKv: openFaultyKv(faults) });
  try {
    await run(store, faults);
  } finally {
    await store.close();
  }
}

const credit = (n: number): Commit => ({
  changeBalances: [{ account: "a", available: 1n, held: 0n }],
  ledgerEntries: [{ account: "a", operation: "credit", reference: String(n), available: 1n, held: 0n }],
});

const commitMany = (store: KvStore, from: number, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => store.commit(null, credit(from + n))));

Deno.test("waiting commits share an atomic write", async () => {
  await withStore(async (store) => {
    await commitMany(store, 0, 300);
    assertEquals(store.counts.transactions, 300);
    assert(store.counts.atomics <= 5, `300 commits took ${store.counts.atomics} atomics`);
    assertEquals(await store.balance("a"), { available: 300n, held: 0n });
  });
});

Deno.test("commits are collected during an atomic write", async () => {
  await withStore(async (store) => {
    const first = store.commit(null, credit(0));
    await Promise.resolve();
    await Promise.resolve();
    const others = commitMany(store, 1, 20);
    await Promise.all([first, others]);
    assertEquals(store.counts.atomics, 2);
  });
});

Deno.test("a written value that is only scanned is not cached, and one before it is forgotten", async () => {
  await withStore(async (store, faults) => {
    const keys = [["one"], ["two"]];
    const write = (isReadByKey: boolean) =>
      store.commit(null, { set: keys.map((key) => ({ key, value: isReadByKey, isReadByKey })) });
    const read: Deno.KvKey[] = [];
    faults.onRead = (key) => read.push(key);
    await write(true);
    await store.get(keys);
    assertEquals(read.length, 0);
    await write(false);
    assertEquals((await store.get(keys)).map((entry) => entry?.value), [false, false]);
    assertEquals(read.length, 2);
  });
});

Deno.test("a commit on cached values reads nothing", async () => {
  await withStore(async (store, faults) => {
    await store.commit(null, credit(0));
    const read: Deno.KvKey[] = [];
    faults.onRead = (key) => read.push(key);
    await store.commit("named", credit(1));
    await store.balance("a");
    assertEquals(read, []);
  });
});

Deno.test("a small value is read once, and never after it was written", async () => {
  await withStore(async (store, faults) => {
    const read: Deno.KvKey[] = [];
    faults.onRead = (key) => read.push(key);
    assertEquals(await store.get([["absent"]]), [null]);
    assertEquals(await store.get([["absent"]]), [null]);
    assertEquals(read, [["value", "absent"]]);
    await store.commit(null, { set: [{ key: ["v"], value: { n: 1 } }] });
    const [entry] = await store.get([["v"]]);
    assertEquals(entry?.value, { n: 1 });
    await store.commit(null, { check: [{ key: ["v"], version: entry!.version }], set: [{ key: ["v"], value: 2 }] });
    assertEquals((await store.get([["v"]]))[0]?.value, 2);
    assertEquals(read.length, 1);
  });
});

Deno.test("values are copies, whether read from the database or from the cache", async () => {
  await withStore(async (store) => {
    await store.commit(null, { set: [{ key: ["v"], value: { list: [1] } }] });
    const read = async () => (await store.get<{ list: number[] }>([["v"]]))[0]!.value.list;
    (await read()).push(2);
    assertEquals(await read(), [1]);
    await store.get([["v"], ["never seen"]]); // not all cached, so the database is read
    const [entry] = await store.get<{ list: number[] }>([["v"], ["nor this"]]);
    entry!.value.list.push(3);
    assertEquals(await read(), [1]);
  });
});

Deno.test("postponing a job that is known to be completed is refused without a transaction", async () => {
  await withStore(async (store) => {
    await store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }] });
    const job = itemAt(await store.claim(["k"], 1, 1_000), 0);
    const postpone = [{ job, dueAt: storeTimeOf(0), attempt: 1 }];
    assert((await store.commit(null, { completeJobs: [job] })).ok);
    const { transactions: proposals } = store.counts;
    assertEquals(await store.commit(null, { postponeJobs: postpone }), { ok: false, why: "fenced", at: 0 });
    await store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }] });
    assertEquals(await store.commit(null, { postponeJobs: postpone }), { ok: false, why: "fenced", at: 0 });
    assertEquals(store.counts.transactions, proposals + 1);
  });
});

Deno.test("a refused or repeated commit writes nothing", async () => {
  await withStore(async (store) => {
    await store.commit("one", credit(0));
    const { atomics } = store.counts;
    await store.commit("one", credit(0));
    await store.commit(null, credit(0));
    await store.commit(null, { check: [{ key: ["absent"], version: "1" }], set: [{ key: ["x"], value: 1 }] });
    await store.commit(null, {});
    assertEquals(store.counts.atomics, atomics);
  });
});

Deno.test("a disk that is full rejects the commits concerned, and the store goes on afterwards", async () => {
  await withStore(async (store, faults) => {
    await commitMany(store, 0, 3);
    faults.beforeCommit = () => {
      throw new TypeError("database or disk is full");
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 9 }, (_, n) => store.commit(null, credit(10 + n))));
    assert(outcomes.every((one) => one.status === "rejected" && one.reason instanceof StoreWriteError));
    await assertRejects(() => store.commit(null, credit(30)), StoreWriteError, "database or disk is full");
    assertEquals(await store.balance("a"), { available: 3n, held: 0n });
    assertEquals((await store.ledger("a", { limit: 9 })).length, 3);
    assertEquals(await store.isReady(), false);
    delete faults.beforeCommit;
    assertEquals(await store.isReady(), true);
    await commitMany(store, 10, 9);
    assertEquals(await store.balance("a"), { available: 12n, held: 0n });
  });
});

Deno.test("an unknown outcome is resolved by a repeat of the operation", async () => {
  await withStore(async (store, faults) => {
    await store.commit(null, credit(0));
    faults.afterCommit = () => {
      throw new TypeError("disk I/O error");
    };
    await assertRejects(() => store.commit("credit", credit(1)), StoreWriteError);
    delete faults.afterCommit;
    assertEquals(await store.balance("a"), { available: 2n, held: 0n });
    assertEquals(await store.commit("credit", credit(1)), { ok: true, replayed: true });
    assertEquals(await store.commit(null, credit(2)), { ok: true, replayed: false, versions: [] });
    assertEquals(await store.balance("a"), { available: 3n, held: 0n });
  });
});

Deno.test("transactions whose checks fail are decided again, finally one by one", async () => {
  await withStore(async (store, faults) => {
    await commitMany(store, 0, 1);
    let failures = 2;
    let atomics = 0;
    faults.beforeCommit = () => {
      atomics++;
      return failures-- <= 0;
    };
    const results = await commitMany(store, 1, 6);
    assert(results.every(({ ok }) => ok));
    assertEquals(atomics, 2 + 6);
    assertEquals(await store.balance("a"), { available: 7n, held: 0n });
  });
});

Deno.test("checks that always fail reject instead of looping", async () => {
  await withStore(async (store, faults) => {
    faults.beforeCommit = () => false;
    await assertRejects(() => store.commit(null, credit(0)), StoreWriteError);
    delete faults.beforeCommit;
    assert((await store.commit(null, credit(0))).ok);
  });
});

Deno.test("a commit that the database finds too large rejects alone while the others of its batch succeed", async () => {
  await withStore(async (store, faults) => {
    let atomics = 0;
    faults.beforeCommit = () => {
      atomics++;
      if (atomics === 1 || atomics === 3) throw new TypeError("Value too large (max 65536 bytes)");
    };
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map((n) => store.commit(null, credit(n))));
    assertEquals(outcomes.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    assertEquals(await store.balance("a"), { available: 3n, held: 0n });
  });
});

Deno.test("a change by another writer is detected and read", async () => {
  let beneath: Deno.Kv | null = null;
  const openKv = async (path: string) => beneath = await Deno.openKv(path);
  const store = await openKvStore({ path: ":memory:", clock: new ManualClock(), log: silentLog, openKv });
  await commitMany(store, 0, 1);
  await beneath!.set(["balance", "a"], [100n, 0n, 50]);
  const results = await commitMany(store, 1, 3);
  assert(results.every(({ ok }) => ok));
  assertEquals(await store.balance("a"), { available: 103n, held: 0n });
  await store.close();
});
