import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import type { Commit } from "../../src/platform/store/store.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

/** The engines, and the clock of a store in a thread. */
const MAKERS = /^src\/(platform\/store\/|threads\/state\/shared_store_time\.ts)/;

Deno.test("source tree: the compiler refuses a time of this machine as a due time", () => {
  // @ts-expect-error only the store's clock makes a due time
  const added: Commit = { addJobs: [{ kind: "k", ref: "r", dueAt: systemClock.now() }] };
  assertEquals(added.addJobs?.length, 1);
});

Deno.test("source tree: only the store makes a time of the store", async () => {
  const makers: string[] = [];
  for (const file of await sourceFiles("src")) {
    const text = await Deno.readTextFile(join(ROOT, file));
    if (text.includes("storeTimeOf(") && !MAKERS.test(file)) makers.push(file);
  }
  assertEquals(makers, []);
});
