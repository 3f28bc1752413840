import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source_files.ts";

const TEST_FILE = /tests\/[\w/]+_test\.ts\b/g;

/** The test files that register a test by a function, or that call a function which does. */
async function filesThatCall(...names: readonly string[]): Promise<string[]> {
  const files = (await sourceFiles("tests")).filter((path) => path.endsWith("_test.ts"));
  const call = new RegExp(`^ *(?:${names.join("|")})\\(`, "m");
  const texts = await Promise.all(files.map((path) => Deno.readTextFile(join(ROOT, path))));
  return files.filter((_, index) => call.test(texts[index] ?? ""));
}

function filesIn(text: string): string[] {
  return (text.match(TEST_FILE) ?? []).sort();
}

Deno.test("deno.json: test:long names every file with a longTest", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const files = await filesThatCall("longTest");
  assert(files.length > 5);
  assertEquals(filesIn(tasks["test:long"].command), files);
});

Deno.test("tests/languages: names every file with a languageTest", async () => {
  const files = await filesThatCall("languageTest", "programTest", "pythonTest");
  assert(files.length > 3);
  assertEquals(filesIn(await Deno.readTextFile(join(ROOT, "tests/languages/main.ts"))), files);
});

Deno.test(".ci/run: runs every task that runs tests which task test ignores", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const script = await Deno.readTextFile(join(ROOT, ".ci/run"));
  const names = Object.keys(tasks).filter((name) => name.startsWith("test:") && !NOT_IN_CI.has(name));
  assertEquals(names.filter((name) => !new RegExp(`\\btask ${name}(?![\\w:-])`).test(script)), []);
});

/** Longer runs of tests that other tasks run. */
const NOT_IN_CI: ReadonlySet<string> = new Set(["test:coverage", "test:kills", "test:kills:nodes"]);
