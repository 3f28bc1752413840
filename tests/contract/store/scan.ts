import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Key } from "../../../src/store/store.ts";
import { itemAt } from "../../support/items.ts";
import type { Law, LawContext } from "./law.ts";

// In the order that the port promises: numbers before text, numbers by size, text by code point, short before long.
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

/** Laws of ordered reading. */
export function scanLaws(law: Law): void {
  law("scan() gives entries in key order, numbers before text", async (world) => {
    await fill(world);
    assertEquals(await keysOf(world, ["s"], { limit: 100 }), ORDERED);
  });

  law("scan() gives the opposite order in reverse", async (world) => {
    await fill(world);
    assertEquals(await keysOf(world, ["s"], { limit: 100, reverse: true }), ORDERED.toReversed());
  });

  law("scan() gives what lies below a prefix, not the prefix itself nor what only begins alike", async (world) => {
    await fill(world);
    assertEquals(await keysOf(world, ["s", "a"], { limit: 100 }), [["s", "a", -1], ["s", "a", 1], ["s", "a", "a"]]);
    assertEquals(await keysOf(world, ["s", 0], { limit: 100 }), [["s", 0, "below"]]);
    assertEquals(await keysOf(world, ["s", "0"], { limit: 100 }), []);
  });

  law("scan() below no prefix gives everything of the callers and nothing of the engine", async (world) => {
    await fill(world);
    await world.store.commit("named", {
      changeBalances: [{ account: "a", available: 1n, held: 0n }],
      ledgerEntries: [{ account: "a", operation: "credit", reference: "r", available: 1n, held: 0n }],
      addJobs: [{ kind: "k", ref: "r", dueAt: 0 }],
    });
    assertEquals(await keysOf(world, [], { limit: 100 }), ORDERED);
  });

  law("scan() pages through with limit and after, forward and in reverse", async (world) => {
    await fill(world);
    for (const reverse of [false, true]) {
      const seen: Key[] = [];
      while (true) {
        const after = seen.at(-1);
        const page = await keysOf(world, ["s"], { limit: 4, reverse, ...(after && { after }) });
        seen.push(...page);
        if (page.length < 4) break;
      }
      assertEquals(seen, reverse ? ORDERED.toReversed() : ORDERED);
    }
  });

  law("scan() starts behind a place where nothing stands, and at an end where the place is outside", async (world) => {
    await fill(world);
    const page = (after: Key, reverse: boolean) => keysOf(world, ["s", "a"], { limit: 9, after, reverse });
    assertEquals(await page(["s", "a", 0], false), [["s", "a", 1], ["s", "a", "a"]]);
    assertEquals(await page(["s", "a", 0], true), [["s", "a", -1]]);
    assertEquals(await page(["r"], false), [["s", "a", -1], ["s", "a", 1], ["s", "a", "a"]]);
    assertEquals(await page(["r"], true), []);
    assertEquals(await page(["t"], false), []);
    assertEquals(await page(["t"], true), [["s", "a", "a"], ["s", "a", 1], ["s", "a", -1]]);
    assertEquals(await page(["s", "a\0"], false), []);
  });

  law("scan() fills its limit over expired entries and gives none for zero", async ({ store, clock }) => {
    const set = Array.from({ length: 30 }, (_, i) => ({ key: ["e", i], value: i, ttlMs: i % 3 === 0 ? 1e6 : 5 }));
    await store.commit(null, { set });
    clock.advance(5);
    assertEquals((await store.scan(["e"], { limit: 5 })).map(({ value }) => value), [0, 3, 6, 9, 12]);
    assertEquals(await store.scan(["e"], { limit: 0 }), []);
  });

  law("scan() gives values and versions as get() does", async ({ store }) => {
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

/** The port's order, spelled without any encoding. */
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
