import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Commit, type Key, MIN_STORE_LIMITS } from "../../../src/platform/store/store.ts";
import type { Law } from "./law.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

/** What exceeds the limits of the engine is refused alone, before anything is written. */
export function limitLaws(law: Law): void {
  law("the limits are at least MIN_STORE_LIMITS", ({ store }) => {
    for (const name of Object.keys(MIN_STORE_LIMITS) as (keyof typeof MIN_STORE_LIMITS)[]) {
      assert(store.limits[name] >= MIN_STORE_LIMITS[name], `${name}: ${store.limits[name]}`);
    }
    return Promise.resolve();
  });

  law("a value up to maxValueBytes is stored, a larger one is a RangeError", async ({ store }) => {
    const { maxValueBytes } = store.limits;
    const value = new Uint8Array(maxValueBytes - 64).fill(7);
    await store.commit(null, { set: [{ key: ["v"], value }] });
    assertEquals((await store.get([["v"]]))[0]?.value, value);
    for (const larger of [new Uint8Array(maxValueBytes + 1), "é€".repeat(maxValueBytes / 3 + 1)]) {
      await assertRejects(() => store.commit(null, { set: [{ key: ["v"], value: larger }] }), RangeError);
    }
    assertEquals((await store.get([["v"]]))[0]?.value, value);
  });

  law("a commit that is too large rejects alone while others succeed", async ({ store }) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 9 }, (_, n) => {
      const value = n === 4 ? "x".repeat(store.limits.maxValueBytes + 1) : n;
      return store.commit(null, {
        set: [{ key: ["n", n], value }],
        changeBalances: [{ account: "a", available: 1n, held: 0n }],
      });
    }));
    assertEquals(outcomes.map(({ status }) => status === "fulfilled"), [0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => n !== 4));
    assertEquals(await store.balance("a"), { available: 8n, held: 0n });
    assertEquals((await store.scan(["n"], { limit: 20 })).length, 8);
  });

  law("a key of maxKeyBytes is stored, a longer one is a RangeError in every part of a commit", async ({ store }) => {
    const { maxKeyBytes, maxValueBytes } = store.limits;
    const text = "x".repeat(maxKeyBytes - 1); // the encoding adds two bytes to a text
    const key = [text];
    const longest = [text.slice(1)];
    await store.commit(null, { set: [{ key: longest, value: 1 }] });
    assertEquals((await store.get([longest]))[0]?.value, 1);
    assertEquals(await store.get([key]), [null]);
    const line = { account: "a", operation: "credit", reference: "r", available: 1n, held: 0n };
    const commits: Commit[] = [
      { set: [{ key, value: 1 }] },
      { delete: [key] },
      { check: [{ key, version: null }] },
      { changeBalances: [{ account: text, available: 1n, held: 0n }] },
      { ledgerEntries: [{ ...line, reference: text }] },
      { ledgerEntries: [{ ...line, detail: "x".repeat(maxValueBytes + 1) }] },
      { addJobs: [{ kind: "k", ref: text, dueAt: storeTimeOf(1) }] },
    ];
    for (const commit of commits) await assertRejects(() => store.commit(null, commit), RangeError);
    await assertRejects(() => store.commit(text, {}), RangeError);
    assertEquals(await store.balance("a"), { available: 0n, held: 0n });
  });

  law("a key with half a surrogate pair or no finite number is a RangeError", async ({ store }) => {
    for (const part of ["\ud800", NaN, Infinity]) {
      await assertRejects(() => store.commit(null, { set: [{ key: ["k", part], value: 1 }] }), RangeError);
    }
    await assertRejects(
      () => store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(NaN) }] }),
      RangeError,
    );
  });

  law("a commit of maxWrites or maxChecks is made, one more is a RangeError", async ({ store }) => {
    const { maxWrites, maxChecks } = store.limits;
    const sets = (count: number) => Array.from({ length: count }, (_, n) => ({ key: ["m", n], value: n }));
    assert((await store.commit(null, { set: sets(maxWrites) })).ok);
    assertEquals((await store.scan(["m"], { limit: maxWrites + 1 })).length, maxWrites);
    await assertRejects(() => store.commit(null, { set: sets(maxWrites + 1) }), RangeError);
    const check = Array.from({ length: maxChecks + 1 }, (_, n) => ({ key: ["absent", n], version: null }));
    assert((await store.commit(null, { check: check.slice(1) })).ok);
    await assertRejects(() => store.commit(null, { check }), RangeError);
  });

  law("a commit below maxCommitBytes is made, a larger one is a RangeError and writes nothing", async ({ store }) => {
    const { maxCommitBytes, maxValueBytes } = store.limits;
    const bytes = Math.min(maxValueBytes - 64, Math.floor(maxCommitBytes / 12.4));
    const sets = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ key: ["l", n], value: new Uint8Array(bytes) }));
    await assertRejects(() => store.commit(null, { set: sets(Math.floor(maxCommitBytes / bytes) + 1) }), RangeError);
    assertEquals(await store.scan(["l"], { limit: 1 }), []);
    assert((await store.commit(null, { set: sets(Math.floor(maxCommitBytes * 0.97 / bytes)) })).ok);
  });

  law("a commit with more than maxCommitKeyBytes of keys is a RangeError", async ({ store }) => {
    const { maxCommitKeyBytes, maxKeyBytes } = store.limits;
    const longest = "x".repeat(maxKeyBytes - 20);
    const keys = (count: number) => Array.from({ length: count }, (_, n): Key => [longest, n]);
    await assertRejects(
      () => store.commit(null, { delete: keys(Math.floor(maxCommitKeyBytes / maxKeyBytes) + 3) }),
      RangeError,
    );
    assert((await store.commit(null, { delete: keys(Math.floor(maxCommitKeyBytes / (maxKeyBytes + 20))) })).ok);
  });

  law("a get() of maxKeysPerRead keys sees every commit whole", async ({ store }) => {
    const keys = Array.from({ length: store.limits.maxKeysPerRead }, (_, n): Key => ["whole", n]);
    const writers = Array.from(
      { length: 20 },
      (_, value) => store.commit(null, { set: keys.map((key) => ({ key, value })) }),
    );
    const readers = Array.from({ length: 20 }, async () => {
      const values = (await store.get<number>(keys)).map((entry) => entry?.value);
      assertEquals(new Set(values).size, 1);
    });
    await Promise.all([...writers, ...readers]);
  });

  law("many large commits at once all succeed", async ({ store }) => {
    const value = new Uint8Array(Math.floor(store.limits.maxValueBytes * 0.8));
    const commits = Array.from({ length: 40 }, (_, n) => store.commit(null, { set: [{ key: ["big", n], value }] }));
    assert((await Promise.all(commits)).every(({ ok }) => ok));
    assertEquals((await store.scan(["big"], { limit: 50 })).length, 40);
  });

  law("a value without a structured clone, or nested too deep, rejects alone", async ({ store }) => {
    let deep: unknown = 1;
    for (let i = 0; i < 50_000; i++) deep = [deep];
    const [first, second, third] = await Promise.allSettled([
      store.commit(null, { set: [{ key: ["a"], value: () => 1 }] }),
      store.commit(null, { set: [{ key: ["b"], value: 1 }] }),
      store.commit(null, { set: [{ key: ["c"], value: deep }] }),
    ]);
    assert(first.status === "rejected" && first.reason instanceof TypeError);
    assert(second.status === "fulfilled");
    assert(third.status === "rejected" && third.reason instanceof RangeError);
  });
}
