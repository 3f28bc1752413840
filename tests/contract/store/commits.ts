import { assert, assertEquals } from "@std/assert";
import type { Commit, Store } from "../../../src/platform/store/store.ts";
import type { Law } from "./law.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const DAY_MS = 24 * 3_600_000;

/** The result of a commit that sets no value. */
const MADE = { ok: true, replayed: false, versions: [] } as const;

/** Commits are atomic and serial, and can be repeated safely. */
export function commitLaws(law: Law): void {
  law("an empty commit succeeds", async ({ store }) => {
    assertEquals(await store.commit(null, {}), MADE);
  });

  law("a check on a version refuses once the value was written again or deleted", async ({ store }) => {
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    const version = (await store.get([["k"]]))[0]!.version;
    const attempt = () => store.commit(null, { check: [{ key: ["k"], version }], set: [{ key: ["k"], value: 2 }] });
    assert((await attempt()).ok);
    assertEquals(await attempt(), { ok: false, why: "conflict", at: 0 });
    await store.commit(null, { delete: [["k"]] });
    assertEquals(await attempt(), { ok: false, why: "conflict", at: 0 });
    assertEquals(await store.get([["k"]]), [null]);
  });

  law("a check for absence accepts the first of many commits and no other", async ({ store }) => {
    const create = (n: number): Commit => ({
      check: [{ key: ["new"], version: null }],
      set: [{ key: ["new"], value: n }],
    });
    const results = await Promise.all(Array.from({ length: 40 }, (_, n) => store.commit(null, create(n))));
    assertEquals(results.filter(({ ok }) => ok).length, 1);
    assertEquals((await store.get([["new"]]))[0]?.value, results.findIndex(({ ok }) => ok));
  });

  law("a refusal has the index of the check that failed", async ({ store }) => {
    await store.commit(null, { set: [{ key: ["there"], value: 1 }] });
    const check = [{ key: ["a"], version: null }, { key: ["b"], version: null }, { key: ["there"], version: null }];
    assertEquals(await store.commit(null, { check }), { ok: false, why: "conflict", at: 2 });
  });

  law("no update is lost under 64 writers", async ({ store }) => {
    await store.commit(null, { set: [{ key: ["n"], value: 0 }] });
    await Promise.all(Array.from({ length: 64 }, () => increment(store)));
    assertEquals((await store.get([["n"]]))[0]?.value, 64);
  });

  law("a read that starts after a commit resolved sees it", async ({ store }) => {
    const writers = Array.from({ length: 30 }, async (_, n) => {
      await store.commit(null, {
        set: [{ key: ["w", n], value: n }],
        changeBalances: [{ account: `w${n}`, available: 1n, held: 0n }],
      });
      assertEquals((await store.get([["w", n]]))[0]?.value, n);
      assertEquals((await store.scan(["w"], { limit: 100 })).some(({ value }) => value === n), true);
      assertEquals(await store.balance(`w${n}`), { available: 1n, held: 0n });
    });
    await Promise.all(writers);
  });

  law("waiting commits on one key take effect in their order", async ({ store }) => {
    const commits = Array.from({ length: 50 }, (_, n) => store.commit(null, { set: [{ key: ["last"], value: n }] }));
    await Promise.all(commits);
    assertEquals((await store.get([["last"]]))[0]?.value, 49);
  });

  law("set and delete in waiting commits are seen by the checks after them", async ({ store }) => {
    const absent = { key: ["k"], version: null };
    const results = await Promise.all([
      store.commit(null, { check: [absent], set: [{ key: ["k"], value: 1 }] }),
      store.commit(null, { check: [absent] }),
      store.commit(null, { delete: [["k"]] }),
      store.commit(null, { check: [absent], set: [{ key: ["k"], value: 2 }] }),
    ]);
    assertEquals(results.map(({ ok }) => ok), [true, false, true, true]);
    assertEquals((await store.get([["k"]]))[0]?.value, 2);
  });

  law("of a key that is set twice the last value counts, and a delete in the same commit wins", async ({ store }) => {
    await store.commit(null, { set: [{ key: ["a"], value: 1 }, { key: ["a"], value: 2 }] });
    assertEquals((await store.get([["a"]]))[0]?.value, 2);
    await store.commit(null, { set: [{ key: ["a"], value: 3 }], delete: [["a"]] });
    assertEquals(await store.get([["a"]]), [null]);
  });

  law("nothing is written when the last part is refused", async ({ store }) => {
    await store.commit(null, { changeBalances: [{ account: "poor", available: 5n, held: 0n }] });
    const refused = await store.commit("whole", {
      check: [{ key: ["x"], version: null }],
      set: [{ key: ["x"], value: 1 }],
      ledgerEntries: [{ account: "rich", operation: "credit", reference: "r", available: 1n, held: 0n }],
      addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }],
      changeBalances: [{ account: "rich", available: 9n, held: 0n }, { account: "poor", available: -6n, held: 6n }],
    });
    assertEquals(refused, { ok: false, why: "short", at: 1 });
    assertEquals(await store.get([["x"]]), [null]);
    assertEquals(await store.balance("rich"), { available: 0n, held: 0n });
    assertEquals(await store.balance("poor"), { available: 5n, held: 0n });
    assertEquals(await store.ledger("rich", { limit: 9 }), []);
    assertEquals(await store.claim(["k"], 9, 1), []);
    const retried = await store.commit("whole", { set: [{ key: ["x"], value: 2 }] });
    assert(retried.ok && !retried.replayed, "a refused commit does not use up its name");
  });

  law("a repeated operation changes nothing and returns replayed", async ({ store }) => {
    const commit: Commit = { changeBalances: [{ account: "a", available: 3n, held: 0n }] };
    assertEquals(await store.commit("credit-1", commit), MADE);
    assertEquals(await store.commit("credit-1", commit), { ok: true, replayed: true });
    assertEquals(await store.balance("a"), { available: 3n, held: 0n });
  });

  law("a repeat is recognised also when its parts would be refused now", async ({ store }) => {
    await store.commit(null, { changeBalances: [{ account: "a", available: 3n, held: 0n }] });
    const commit: Commit = {
      check: [{ key: ["k"], version: null }],
      set: [{ key: ["k"], value: 1 }],
      addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }],
      changeBalances: [{ account: "a", available: -3n, held: 3n }],
    };
    const made = await store.commit("hold", commit);
    assert(made.ok && !made.replayed);
    assertEquals(await store.commit("hold", commit), { ok: true, replayed: true });
    const [repeat] = await Promise.all([
      store.commit("hold", commit),
      store.commit(null, { set: [{ key: ["other"], value: 1 }] }),
    ]);
    assertEquals(repeat, { ok: true, replayed: true }, "also beside others");
  });

  law("of parallel commits of one operation, one is made", async ({ store }) => {
    const commit: Commit = { changeBalances: [{ account: "a", available: 1n, held: 0n }] };
    const results = await Promise.all(Array.from({ length: 30 }, () => store.commit("same", commit)));
    assertEquals(results.filter((result) => result.ok && !result.replayed).length, 1);
    assertEquals(results.filter((result) => result.ok).length, 30);
    assertEquals(await store.balance("a"), { available: 1n, held: 0n });
  });

  law("an operation name is stored for a day, also over a restart", async ({ store, clock, restarted }) => {
    const commit: Commit = { changeBalances: [{ account: "a", available: 1n, held: 0n }] };
    await store.commit("daily", commit);
    const later = await restarted();
    clock.advance(DAY_MS - 1);
    assertEquals(await later.commit("daily", commit), { ok: true, replayed: true });
    clock.advance(1);
    assertEquals(await later.commit("daily", commit), MADE);
    assertEquals(await later.balance("a"), { available: 2n, held: 0n });
  });

  law("parallel commits on few keys each see a consistent state", async ({ store }) => {
    const pair = [["pair", 1], ["pair", 2]] as const;
    await store.commit(null, { set: pair.map((key) => ({ key, value: 0 })) });
    const writer = async (n: number) => {
      for (let attempt = 0; attempt < 4; attempt++) {
        const [a, b] = await store.get<number>(pair);
        const check = [{ key: pair[0], version: a!.version }, { key: pair[1], version: b!.version }];
        const result = await store.commit(null, { check, set: pair.map((key) => ({ key, value: n })) });
        if (result.ok) assertEquals(a!.value, b!.value);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => writer(n + 1)));
    const [a, b] = await store.get<number>(pair);
    assertEquals(a!.value, b!.value);
  });
}

async function increment(store: Store): Promise<void> {
  while (true) {
    const [entry] = await store.get<number>([["n"]]);
    const check = [{ key: ["n"], version: entry!.version }];
    const result = await store.commit(null, { check, set: [{ key: ["n"], value: entry!.value + 1 }] });
    if (result.ok) return;
  }
}
