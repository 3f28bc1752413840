import { assertEquals } from "@std/assert";
import { hasMoreValuesThan, textHasMoreValuesThan } from "../../src/platform/lib/json/json_values.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("hasMoreValuesThan() counts values outside strings, across slices", async () => {
  const quoted = JSON.stringify('[,"{\\'.repeat(300_000));
  const text = bytesOf(`[${quoted},1,{"a":[2,3]},${quoted}]`);
  // Each list and object counts, and each comma.
  assertEquals([await hasMoreValuesThan(text, 6), await hasMoreValuesThan(text, 8)], [true, false]);
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
  const text = `[${JSON.stringify('[,"{\\'.repeat(10))},1,{"a":[2,3]}]`;
  assertEquals([textHasMoreValuesThan(text, 6), textHasMoreValuesThan(text, 7)], [true, false]);
});
