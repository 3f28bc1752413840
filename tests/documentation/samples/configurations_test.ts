import { assert, assertEquals } from "@std/assert";
import { placeOf, readCodeBlocks } from "./code_blocks.ts";
import { isConfiguration, problemsOf } from "./configurations.ts";

const blocks = (await readCodeBlocks()).filter(isConfiguration);

Deno.test("documentation: every configuration passes the check of the configuration", () => {
  assert(blocks.length > 15, `${blocks.length} blocks`);
  for (const block of blocks) assertEquals(problemsOf(block), [], placeOf(block));
});

Deno.test("documentation: a part of a configuration with a mistake does not pass", () => {
  const block = { page: "", line: 1, language: "yaml", heading: "", text: "" };
  const text = "models:\n  - { id: a/b, fallbacks: [a/c], pricng: free, serves: [{ provider: a }] }";
  assertEquals(problemsOf({ ...block, text }).length, 1);
});
