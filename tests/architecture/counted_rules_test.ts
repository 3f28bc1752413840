import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { countedRules } from "./counted_rules.ts";
import { parsed } from "./exports.ts";
import { ROOT } from "./source_files.ts";
import { sourceTrees } from "./source_trees.ts";

Deno.test("source tree: no rule is broken more often than it was, and a lower count is written down", async () => {
  const counted = countedRules(await sourceTrees());
  const file = join(ROOT, "tests/architecture/counted_rules.json");
  assertEquals(counted, JSON.parse(await Deno.readTextFile(file)), "see CONTRIBUTING.md, Style");
});

Deno.test("counted rules: each is found", () => {
  const texts = new Map([
    [
      "src/a.ts",
      "export function both(a: A, b: B, c: C, d: D) { return a! as unknown as E; }\nexport function onlyTests() {}\n" +
      "// deno-lint-ignore x\nconst one = [1] as const;\n" + "\n".repeat(300) + "both();",
    ],
    ["src/b.ts", "export const both = 1;"],
    ["tests/a_test.ts", "onlyTests(); setTimeout(() => {}, 5);"],
  ]);
  assertEquals(countedRules(parsed(texts)), {
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
