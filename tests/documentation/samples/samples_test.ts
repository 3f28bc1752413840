import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../../architecture/source_files.ts";
import { CHECKS, isListed, TESTED_ELSEWHERE, UNTESTED } from "./accounting.ts";
import { codeBlocksOf, placeOf, readCodeBlocks } from "./code_blocks.ts";

const blocks = await readCodeBlocks();

Deno.test("documentation: each block of code is tested once, or is listed with a reason", () => {
  const problems = blocks.flatMap((block) => {
    const checks = Object.keys(CHECKS).filter((name) => CHECKS[name]?.(block));
    return checks.length === 1 ? [] : [`${placeOf(block)} (${block.language}): ${checks.join(", ") || "not tested"}`];
  });
  assertEquals(problems, []);
  assert(blocks.length > 150, `${blocks.length} blocks`);
});

Deno.test("documentation: the lists of blocks that are tested elsewhere, or not, have no others", async () => {
  for (const entry of [...TESTED_ELSEWHERE, ...UNTESTED]) {
    assertEquals(blocks.filter((block) => isListed(block, [entry])).length, 1, entry.join(": "));
  }
  for (const [page, , file] of TESTED_ELSEWHERE) {
    const name = page.slice(page.lastIndexOf("/") + 1);
    assert((await Deno.readTextFile(join(ROOT, file))).includes(name), `${file} does not read ${page}`);
  }
});

Deno.test("codeBlocksOf() reads fences of lists and of longer marks", () => {
  const page = "# One\n- a\n  ```sh\n  ls\n  ```\n\n## Two\n````md\n```\n````\n";
  assertEquals(codeBlocksOf("a.md", page), [
    { page: "a.md", line: 3, language: "sh", text: "ls", heading: "One" },
    { page: "a.md", line: 8, language: "md", text: "```", heading: "Two" },
  ]);
});
