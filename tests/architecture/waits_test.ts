import { assertEquals } from "@std/assert";
import { ROOT, sourceFiles } from "./source_files.ts";

/** A loop of one line that looks again after a pause, with nothing that ends it. */
const ENDLESS_WAIT = /^ *while \(.*\) await new Promise\(\(\w+\) => setTimeout\(/;
/** A wait that ends with a process or a thread. */
const ENDS_OTHERWISE = /Promise\.race|Atomics/;

Deno.test("a test that waits for a state has a limit, and says what it saw", async () => {
  const endless: string[] = [];
  for (const path of await sourceFiles("tests")) {
    const lines = (await Deno.readTextFile(ROOT + path)).split("\n");
    lines.forEach((line, index) => {
      if (ENDLESS_WAIT.test(line) && !ENDS_OTHERWISE.test(line)) endless.push(`${path}:${index + 1} ${line.trim()}`);
    });
  }
  assertEquals(endless, [], "use untilSo of tests/support/patience.ts");
});
