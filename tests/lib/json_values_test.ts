import { assertEquals } from "@std/assert";
import { hasMoreValuesThan, textHasMoreValuesThan } from "../../src/platform/lib/json/json_values.ts";

const NO_NAMES = { newName: 0 };
const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("hasMoreValuesThan() counts values outside strings, across slices", async () => {
  const quoted = JSON.stringify('[,"{\\'.repeat(300_000));
  const text = bytesOf(`[${quoted},1,{"a":[2,3]},${quoted}]`);
  // Each list and object counts, and each comma.
  assertEquals([await hasMoreValuesThan(text, 6, NO_NAMES), await hasMoreValuesThan(text, 8, NO_NAMES)], [true, false]);
});

Deno.test("hasMoreValuesThan() stops at the first slice that has too many, and accepts short texts", async () => {
  assertEquals(await hasMoreValuesThan(bytesOf(`[${"[],".repeat(200_000)}0]`), 1_000), true);
  assertEquals(await hasMoreValuesThan(bytesOf(`[${"[],".repeat(1_000)}0]`), 1_000), false);
});

Deno.test("hasMoreValuesThan() yields to the event loop between slices", async () => {
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    await hasMoreValuesThan(new Uint8Array(10_000_000).fill(0x20), 1);
    isOver = true;
  })();
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    turns++;
  }
  await counting;
  assertEquals(turns >= 9, true);
});

Deno.test("textHasMoreValuesThan() counts values outside strings", () => {
  const text = `[${JSON.stringify('[,"{\\'.repeat(10))},1,[4,[2,3]]]`;
  assertEquals([textHasMoreValuesThan(text, 7), textHasMoreValuesThan(text, 8)], [true, false]);
});

/** Objects whose names a parser has not seen, or not in this order. */
const NEW_NAMES = {
  "one object": `{${Array.from({ length: 3_000 }, (_, nth) => `"name-${nth}":1`).join()}}`,
  "many objects": `[${Array.from({ length: 3_000 }, (_, nth) => `{"name-${nth}":1}`).join()}]`,
  "another order": `[${
    Array.from({ length: 3_000 }, (_, nth) => {
      const digits = [...nth.toString(5).padStart(6, "0")].map((digit, at) => `"${"abcdef"[at]}${digit}":1`);
      return `{${digits.join()}}`;
    }).join()
  }]`,
};

for (const [what, text] of Object.entries(NEW_NAMES)) {
  Deno.test(`hasMoreValuesThan() counts a new name several times: ${what}`, async () => {
    assertEquals([await hasMoreValuesThan(bytesOf(text), 50_000), textHasMoreValuesThan(text, 25_000)], [true, true]);
    assertEquals(await hasMoreValuesThan(bytesOf(text), 50_000, NO_NAMES), false);
  });
}

Deno.test("hasMoreValuesThan() counts names once that many objects have in the same order", async () => {
  const object = '{"role":"user","content":[{"type":"text","text":"a"}],"name":"b"}';
  const text = `[${Array(5_000).fill(object).join()}]`;
  const values = 8 * 5_000;
  assertEquals([await hasMoreValuesThan(bytesOf(text), values), textHasMoreValuesThan(text, values)], [false, false]);
  assertEquals(await hasMoreValuesThan(bytesOf(text), values, NO_NAMES), false);
});

Deno.test("hasMoreValuesThan() counts objects, lists and short texts several times if it is told so", async () => {
  const weights = { newName: 0, small: 8 };
  const counts = async (part: string, values: number) => {
    const text = bytesOf(`[${Array(20_000).fill(part).join()}]`);
    const each = values * 20_000 + 8;
    return [await hasMoreValuesThan(text, each - 20_000, weights), await hasMoreValuesThan(text, each + 9, weights)];
  };
  for (
    const [part, values] of [["{}", 9], ["[]", 9], ['"ab"', 8], ['{"a":1}', 9], ['"longer than that"', 1]] as const
  ) {
    assertEquals(await counts(part, values), [true, false], part);
  }
});
