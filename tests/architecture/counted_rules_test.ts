import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { countedRules } from "./counted_rules.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

async function textsOf(folder: string): Promise<Map<string, string>> {
  const paths = (await sourceFiles(folder)).filter((path) => !path.includes("/lib/std/"));
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await Deno.readTextFile(join(ROOT, path))] as const)),
  );
}

Deno.test("source tree: no rule is broken more often than it was, and a lower count is written down", async () => {
  const counted = countedRules(await textsOf("src"), await textsOf("tests"));
  const file = join(ROOT, "tests/architecture/counted_rules.json");
  assertEquals(counted, JSON.parse(await Deno.readTextFile(file)), "see CONTRIBUTING.md, Style");
});

Deno.test("counted rules: each is found", () => {
  const source = new Map([
    [
      "a.ts",
      "export function both(a: A, b: B, c: C, d: D) { return a! as unknown as E; }\nexport function onlyTests() {}\n" +
      "// deno-lint-ignore x\nconst one = [1] as const;\n" + "\n".repeat(300) + "both();",
    ],
    ["b.ts", "export const both = 1;"],
  ]);
  const tests = new Map([["a_test.ts", "onlyTests(); setTimeout(() => {}, 5);"]]);
  assertEquals(countedRules(source, tests), {
    "non-null assertions": 1,
    "casts": 2,
    "casts by way of unknown": 1,
    "suppressed lints": 1,
    "functions with more than three parameters": 1,
    "files over 300 lines": 1,
    "exports that only tests import": 1,
    "exported names with two meanings": 1,
    "test files with setTimeout": 1,
  });
});
