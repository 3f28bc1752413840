import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Key } from "../../../src/platform/store/store.ts";
import { itemAt } from "../../support/items.ts";
import type { Law, LawContext } from "./law.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

// The order of keys: numbers before text, numbers by size, text by code point, short before long.
const ORDERED: readonly Key[] = [
  ["s", -1e21],
  ["s", -3],
  ["s", -0.5],
  ["s", 0],
  ["s", 0, "below"],
  ["s", 2.5],
  ["s", 256],
  ["s", 1e12],
  ["s", ""],
  ["s", "", 0],
  ["s", "\0"],
  ["s", "a"],
  ["s", "a", -1],
  ["s", "a", 1],
  ["s", "a", "a"],
  ["s", "a\0"],
  ["s", "a\0b"],
  ["s", "ab"],
  ["s", "é"],
  ["s", "\uffff"],
  ["s", "😀"],
];

/** Ordered reads. */
export function scanLaws(law: Law): void {
  law("scan() returns entries in key order, numbers before text", async (context) => {
    await fill(context);
    assertEquals(await keysOf(context, ["s"], { limit: 100 }), ORDERED);
  });

  law("scan() returns the opposite order in reverse", async (context) => {
    await fill(context);
    assertEquals(await keysOf(context, ["s"], { limit: 100, reverse: true }), ORDERED.toReversed());
  });

  law(
    "scan() returns entries below a prefix, but not the prefix itself or keys with only a similar start",
    async (context) => {
      await fill(context);
      assertEquals(await keysOf(context, ["s", "a"], { limit: 100 }), [["s", "a", -1], ["s", "a", 1], ["s", "a", "a"]]);
      assertEquals(await keysOf(context, ["s", 0], { limit: 100 }), [["s", 0, "below"]]);
      assertEquals(await keysOf(context, ["s", "0"], { limit: 100 }), []);
    },
  );

  law("scan() without a prefix returns all values of callers and none of the engine", async (context) => {
    await fill(context);
    await context.store.commit("named", {
      changeBalances: [{ account: "a", available: 1n, held: 0n }],
      ledgerEntries: [{ account: "a", operation: "credit", reference: "r", available: 1n, held: 0n }],
      addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }],
    });
    assertEquals(await keysOf(context, [], { limit: 100 }), ORDERED);
  });

  law("scan() pages through with limit and after, forward and in reverse", async (context) => {
    await fill(context);
    for (const reverse of [false, true]) {
      const seen: Key[] = [];
      while (true) {
        const after = seen.at(-1);
        const page = await keysOf(context, ["s"], { limit: 4, reverse, ...(after && { after }) });
        seen.push(...page);
        if (page.length < 4) break;
      }
      assertEquals(seen, reverse ? ORDERED.toReversed() : ORDERED);
    }
  });

  law("scan() starts after a key without a value, and at an end for a key outside the prefix", async (context) => {
    await fill(context);
    const page = (after: Key, reverse: boolean) => keysOf(context, ["s", "a"], { limit: 9, after, reverse });
    assertEquals(await page(["s", "a", 0], false), [["s", "a", 1], ["s", "a", "a"]]);
    assertEquals(await page(["s", "a", 0], true), [["s", "a", -1]]);
    assertEquals(await page(["r"], false), [["s", "a", -1], ["s", "a", 1], ["s", "a", "a"]]);
    assertEquals(await page(["r"], true), []);
    assertEquals(await page(["t"], false), []);
    assertEquals(await page(["t"], true), [["s", "a", "a"], ["s", "a", 1], ["s", "a", -1]]);
    assertEquals(await page(["s", "a\0"], false), []);
  });

  law("scan() skips expired entries and returns none for a limit of zero", async ({ store, clock }) => {
    const set = Array.from({ length: 30 }, (_, i) => ({ key: ["e", i], value: i, ttlMs: i % 3 === 0 ? 1e6 : 5 }));
    await store.commit(null, { set });
    clock.advance(5);
    assertEquals((await store.scan(["e"], { limit: 5 })).map(({ value }) => value), [0, 3, 6, 9, 12]);
    assertEquals(await store.scan(["e"], { limit: 0 }), []);
  });

  law("scan() returns the values and versions that get() returns", async ({ store }) => {
    await store.commit(null, { set: [{ key: ["e", 1], value: { a: 1n } }] });
    assertEquals<unknown>(await store.scan(["e"], { limit: 1 }), await store.get([["e", 1]]));
  });

  law("scan() agrees with sorting for any keys", async ({ store }) => {
    const part = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.string({ unit: "binary", maxLength: 6 }),
    );
    const key = fc.array(part, { minLength: 1, maxLength: 3 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(key, { maxLength: 12 }), async (keys) => {
        const space = run++;
        await store.commit(null, { set: keys.map((key) => ({ key: [space, ...key], value: key })) });
        const found = await store.scan([space], { limit: 100 });
        const sorted = keys.toSorted(compareKeys).filter((key, i, all) =>
          i === 0 || compareKeys(key, itemAt(all, i - 1)) !== 0
        );
        assertEquals(found.map(({ key }) => key.slice(1)), sorted);
      }),
      { numRuns: 40 },
    );
  });
}

async function fill({ store }: LawContext): Promise<void> {
  const shuffled = ORDERED.toSorted((a, b) => JSON.stringify(b) < JSON.stringify(a) ? -1 : 1);
  await store.commit(null, { set: shuffled.map((key) => ({ key, value: key })) });
}

async function keysOf(
  { store }: LawContext,
  prefix: Key,
  options: { limit: number; after?: Key; reverse?: boolean },
): Promise<Key[]> {
  return (await store.scan(prefix, options)).map(({ key }) => key);
}

/** The order of keys, implemented without an encoding. */
function compareKeys(a: Key, b: Key): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareParts(itemAt(a, i), itemAt(b, i));
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareParts(a: string | number, b: string | number): number {
  if (typeof a === "number") return typeof b === "number" ? a - b && (a < b ? -1 : 1) : -1;
  if (typeof b === "number") return 1;
  const left = [...a].map((character) => character.codePointAt(0)!);
  const right = [...b].map((character) => character.codePointAt(0)!);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] !== right[i]) return itemAt(left, i) - itemAt(right, i);
  }
  return left.length - right.length;
}
