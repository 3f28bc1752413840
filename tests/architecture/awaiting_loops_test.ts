import { assertEquals } from "@std/assert";
import { unboundedLoopsIn } from "./awaiting_loops.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

Deno.test("every loop that awaits something is bounded, reads a source, pauses, or says why it ends", async () => {
  const unbounded: string[] = [];
  for (const path of await sourceFiles("src")) {
    const loops = unboundedLoopsIn(path, await Deno.readTextFile(ROOT + path));
    unbounded.push(...loops.map(({ line, text }) => `${path}:${line} ${text}`));
  }
  assertEquals(unbounded, []);
});

/** Whether a loop in an asynchronous function is reported. */
function isReported(loop: string): boolean {
  return unboundedLoopsIn("a.ts", `async function f() {\n  ${loop}\n}`).length > 0;
}

Deno.test("a loop whose end depends on what others do meanwhile is reported", () => {
  for (
    const loop of [
      "while (!isLoaded(caller)) await load();",
      "do await meter.readBalance(); while (meter.age === Infinity);",
      "for (let one = pending(); one !== null; one = pending()) await one.catch(() => {});",
      "for (;;) { const [entry] = await store.get([key]); if (entry) return entry; await store.commit(first); }",
      "for (let n = 0;; n++) { if (await isDone()) return n; }",
      "for (let n = 0; n < 3; n++) { n = 0; await go(); }",
      "for (const one of list) { while (one.isOpen) await one.step(); }",
      "// Loops end.\n  while (isOpen()) await step();",
    ]
  ) assertEquals([loop, isReported(loop)], [loop, true]);
});

Deno.test("a loop that is counted, reads a source, pauses, or says why it ends is not reported", () => {
  for (
    const loop of [
      "for (let n = 0; n < MAX; n++) await go();",
      "for (let n = 1;; n++) { try { return await go(); } catch (error) { if (n === MAX) throw error; } }",
      "for (let n = 0;; n++) { await go(); if (DELAYS[n] === undefined) return; }",
      "for (let at = 0; at < all.length; at += PART) await write(all.slice(at, at + PART));",
      "while (true) { const { done } = await reader.read(); if (done) return; }",
      "do { page = await store.scan(prefix, { after }); after = page.at(-1)?.key; } while (after !== undefined);",
      "while (!isStopped()) { await go(); await sleep(clock, 1_000); }",
      "while (!isStopped()) await new Promise((resolve) => setTimeout(resolve, 10));",
      "while (!isStopped()) await new Promise((resolve) => void clock.after(10, resolve));",
      "// Ends when the queue is empty: nothing is added while it is locked.\n  while (queue.length > 0) await go(queue);",
      "for (const one of list) await go(one);",
      "for await (const one of list) await go(one);",
      "while (isOpen) { list.push(async () => await go()); isOpen = false; }",
    ]
  ) assertEquals([loop, isReported(loop)], [loop, false]);
});
