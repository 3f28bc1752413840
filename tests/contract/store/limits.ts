import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Law } from "./law.ts";

/** Laws of size: what is too large is refused alone, before anything is done. */
export function limitLaws(law: Law): void {
  law("a value of 60 KB is stored, one beyond is a RangeError", async ({ store }) => {
    const value = new Uint8Array(60 * 1024 - 64).fill(7);
    await store.commit(null, { set: [{ key: ["v"], value }] });
    assertEquals((await store.get([["v"]]))[0]?.value, value);
    await assertRejects(
      () => store.commit(null, { set: [{ key: ["v"], value: new Uint8Array(60 * 1024 + 1) }] }),
      RangeError,
    );
    await assertRejects(() => store.commit(null, { set: [{ key: ["v"], value: "é€".repeat(40_000) }] }), RangeError);
    assertEquals((await store.get([["v"]]))[0]?.value, value);
  });

  law("what is too large rejects alone while its neighbours succeed", async ({ store }) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 9 }, (_, n) => {
      const value = n === 4 ? "x".repeat(70_000) : n;
      return store.commit(null, { set: [{ key: ["n", n], value }], move: [{ account: "a", available: 1n, held: 0n }] });
    }));
    assertEquals(outcomes.map(({ status }) => status === "fulfilled"), [0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => n !== 4));
    assertEquals(await store.balance("a"), { available: 8n, held: 0n });
    assertEquals((await store.scan(["n"], { limit: 20 })).length, 8);
  });

  law("a key of 1 KB is stored, one beyond is a RangeError wherever it stands", async ({ store }) => {
    const longest = ["x".repeat(1_022)];
    await store.commit(null, { set: [{ key: longest, value: 1 }] });
    assertEquals((await store.get([longest]))[0]?.value, 1);
    const key = ["x".repeat(1_023)];
    const text = key[0];
    const line = { account: "a", operation: "credit", reference: "r", available: 1n, held: 0n };
    const commits = [
      { set: [{ key, value: 1 }] },
      { delete: [key] },
      { check: [{ key, version: null }] },
      { move: [{ account: text, available: 1n, held: 0n }] },
      { ledger: [{ ...line, reference: text }] },
      { ledger: [{ ...line, detail: "x".repeat(70_000) }] },
      { add: [{ kind: "k", ref: text, dueAt: 1 }] },
    ];
    for (const commit of commits) await assertRejects(() => store.commit(null, commit), RangeError);
    await assertRejects(() => store.commit(text, {}), RangeError);
    assertEquals(await store.balance("a"), { available: 0n, held: 0n });
  });

  law("a key with half a surrogate pair or no finite number is a RangeError", async ({ store }) => {
    for (const part of ["\ud800", NaN, Infinity]) {
      await assertRejects(() => store.commit(null, { set: [{ key: ["k", part], value: 1 }] }), RangeError);
    }
    await assertRejects(() => store.commit(null, { add: [{ kind: "k", ref: "r", dueAt: NaN }] }), RangeError);
  });

  law("a commit of many parts is taken whole, one of too many is a RangeError", async ({ store }) => {
    const sets = (count: number) => Array.from({ length: count }, (_, n) => ({ key: ["m", n], value: n }));
    assert((await store.commit(null, { set: sets(900) })).ok);
    assertEquals((await store.scan(["m"], { limit: 2_000 })).length, 900);
    await assertRejects(() => store.commit(null, { set: sets(901) }), RangeError);
    const check = Array.from({ length: 101 }, (_, n) => ({ key: ["absent", n], version: null }));
    assert((await store.commit(null, { check: check.slice(1) })).ok);
    await assertRejects(() => store.commit(null, { check }), RangeError);
    const large = Array.from({ length: 13 }, (_, n) => ({ key: ["l", n], value: new Uint8Array(58_000) }));
    await assertRejects(() => store.commit(null, { set: large }), RangeError);
    assert((await store.commit(null, { set: large.slice(1) })).ok);
  });

  law("many large commits at once all succeed", async ({ store }) => {
    const value = new Uint8Array(50_000);
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
