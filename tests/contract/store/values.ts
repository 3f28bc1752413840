import { assert, assertEquals, assertNotEquals } from "@std/assert";
import type { Law } from "./law.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

/** Single values: a read returns what was written, until it expires. */
export function valueLaws(law: Law): void {
  law("get() returns values in the order of the keys, null where there is none", async ({ store }) => {
    await store.commit(null, { set: [{ key: ["t", 1], value: "one" }, { key: ["t", 2], value: "two" }] });
    const found = await store.get([["t", 2], ["t", 3], ["t", 1], ["t", 2]]);
    assertEquals(found.map((entry) => entry?.value ?? null), ["two", null, "one", "two"]);
    assertEquals(found.map((entry) => entry?.key ?? null), [["t", 2], null, ["t", 1], ["t", 2]]);
  });

  law("get() takes more keys than maxKeysPerRead", async ({ store }) => {
    const set = Array.from(
      { length: Math.min(3 * store.limits.maxKeysPerRead + 7, 500) },
      (_, i) => ({ key: ["many", i], value: i }),
    );
    await store.commit(null, { set });
    const found = await store.get(set.map(({ key }) => key));
    assertEquals(found.map((entry) => entry?.value), set.map(({ value }) => value));
    assertEquals(await store.get([]), []);
  });

  law("keys differ by the type, the number and the boundaries of their parts", async ({ store }) => {
    const keys = [["a", 1], ["a", "1"], ["a1"], ["a", "", "1"], ["a", "1", ""], ["a\0", "1"], ["a", "\x001"], [
      "a",
      -1,
    ]];
    await store.commit(null, { set: keys.map((key, i) => ({ key, value: i })) });
    assertEquals((await store.get(keys)).map((entry) => entry?.value), keys.map((_, i) => i));
  });

  law("structured values are returned unchanged", async ({ store }) => {
    const value = {
      big: -123456789012345678901234567890n,
      bytes: new Uint8Array([0, 255, 7]),
      date: new Date(86_400_000),
      text: "žluťoučký 🐎 \ud800 lone \u0000 zero",
      numbers: [0, -1.5, Number.MAX_SAFE_INTEGER, Infinity],
      nested: { list: [[], {}, null, undefined, true] },
    };
    await store.commit(null, { set: [{ key: ["v"], value }] });
    const [entry] = await store.get([["v"]]);
    assertEquals(entry?.value as typeof value, value);
  });

  law("null, false, zero and undefined are values", async ({ store }) => {
    const values = [null, false, 0, "", undefined];
    await store.commit(null, { set: values.map((value, i) => ({ key: ["v", i], value })) });
    const found = await store.get(values.map((_, i) => ["v", i]));
    assertEquals(found.map((entry) => entry !== null && entry.value), values);
  });

  law("a value is a copy: changing what was written or read changes nothing stored", async ({ store }) => {
    const value = { list: [1] };
    const key = ["copy", 1];
    const commit = store.commit(null, { set: [{ key, value }] });
    value.list.push(2);
    await commit;
    const [first] = await store.get<typeof value>([["copy", 1]]);
    first?.value.list.push(3);
    const [second] = await store.get<typeof value>([["copy", 1]]);
    assertEquals(second?.value, { list: [1] });
  });

  law("a version is stable until the next write and then changes", async ({ store }) => {
    const version = async () => (await store.get([["k"]]))[0]?.version;
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    const first = await version();
    await store.commit(null, { set: [{ key: ["other"], value: 1 }] });
    assertEquals(await version(), first);
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    const second = await version();
    assertNotEquals(second, first);
    await store.commit(null, { delete: [["k"]] });
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    assert(![first, second].includes(await version()));
  });

  law(
    "a value with a time to live is unreadable from that instant on, by the store's clock",
    async ({ store, clock }) => {
      await store.commit(null, { set: [{ key: ["t", 1], value: 1, ttlMs: 1_000 }, { key: ["t", 2], value: 2 }] });
      clock.advance(999);
      assertEquals((await store.get([["t", 1]]))[0]?.value, 1);
      assertEquals((await store.scan(["t"], { limit: 9 })).length, 2);
      clock.advance(1);
      assertEquals(await store.get([["t", 1]]), [null]);
      assertEquals((await store.scan(["t"], { limit: 1 })).map(({ value }) => value), [2]);
    },
  );

  law("an expired value counts as absent for a check, and may be written anew", async ({ store, clock }) => {
    await store.commit(null, { set: [{ key: ["t"], value: 1, ttlMs: 10 }] });
    const version = (await store.get([["t"]]))[0]!.version;
    clock.advance(10);
    const stale = await store.commit(null, { check: [{ key: ["t"], version }], set: [{ key: ["t"], value: 2 }] });
    assertEquals(stale, { ok: false, why: "conflict", at: 0 });
    const fresh = await store.commit(null, { check: [{ key: ["t"], version: null }], set: [{ key: ["t"], value: 3 }] });
    assert(fresh.ok);
    clock.advance(1_000_000);
    assertEquals((await store.get([["t"]]))[0]?.value, 3);
  });

  law("a value written again without a time to live does not expire", async ({ store, clock }) => {
    await store.commit(null, { set: [{ key: ["t"], value: 1, ttlMs: 10 }] });
    await store.commit(null, { set: [{ key: ["t"], value: 2 }] });
    clock.advance(10);
    assertEquals((await store.get([["t"]]))[0]?.value, 2);
  });

  law("a key that cannot be written has no value", async ({ store }) => {
    const keys = [["x".repeat(store.limits.maxKeyBytes)], ["lone \ud800"], [NaN]];
    assertEquals(await store.get(keys), [null, null, null]);
    for (const prefix of keys) assertEquals(await store.scan(prefix, { limit: 5 }), []);
  });

  law("now() is the time of the clock", async ({ store, clock }) => {
    const before = store.now();
    clock.advance(1_234);
    assertEquals(store.now(), before + 1_234);
    await Promise.resolve();
  });

  law("values survive a restart with their versions", async ({ store, restarted }) => {
    await store.commit(null, { set: [{ key: ["t", 1], value: { a: 1n } }] });
    const before = await store.get([["t", 1]]);
    assertEquals(await (await restarted()).get([["t", 1]]), before);
  });

  law("a closed store rejects, and closing twice is harmless", async ({ store }) => {
    await store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }] });
    const last = store.commit(null, { set: [{ key: ["t"], value: 1 }] });
    const claim = store.claim(["k"], 1, 1);
    await store.close();
    await store.close();
    assert((await last).ok, "a commit under way is finished");
    assertEquals((await claim).length, 1, "a claim as well");
    const calls = [
      () => store.get([["t"]]),
      () => store.scan(["t"], { limit: 1 }),
      () => store.commit(null, {}),
      () => store.balance("a"),
      () => store.ledger("a", { limit: 1 }),
      () => store.claim(["k"], 1, 1),
      () => store.renew([], 1),
      () => store.take("b", { perMs: 1, burst: 1, cost: 1 }),
    ];
    const outcomes = await Promise.allSettled(calls.map((call) => call()));
    assertEquals(outcomes.map(({ status }) => status), calls.map(() => "rejected"));
  });
}
