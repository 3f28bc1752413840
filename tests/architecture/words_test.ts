import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source_files.ts";
import { replacementFor, wordsOf } from "./words.ts";

const DECLARED =
  /^(?:export (?:default |declare |abstract |async )*(?:function\*?|class|interface|type|const|let|enum) (\w+)|(?:const|let) ([A-Z][A-Z0-9_]+)\b)/gm;

/** Longer lines are broken; the formatter does so for code, but not for comments. */
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
const MAX_COLUMNS = 120;

async function allFiles(): Promise<string[]> {
  const folders = await Promise.all(["src", "tests", "bench"].map(sourceFiles));
  return ["main.ts", ...folders.flat()];
}

Deno.test("words: exported names and constants use the usual words", async () => {
  const found: string[] = [];
  for (const file of await allFiles()) {
    const text = await Deno.readTextFile(join(ROOT, file));
    for (const [, exported, constant] of text.matchAll(DECLARED)) {
      const name = exported ?? constant ?? "";
      const instead = replacementFor(name);
      if (instead !== null) found.push(`${file}: ${name}: use ${instead}`);
    }
  }
  assertEquals(found, []);
});

Deno.test("words: comments stay within 120 columns", async () => {
  const found: string[] = [];
  for (const file of await allFiles()) {
    const lines = (await Deno.readTextFile(join(ROOT, file))).split("\n");
    for (const [index, line] of lines.entries()) {
      if (line.length > MAX_COLUMNS && COMMENT.test(line)) found.push(`${file}:${index + 1}`);
    }
  }
  assertEquals(found, []);
});

Deno.test("words: a name is read word by word", () => {
  assertEquals(wordsOf("readSealOf"), "read seal of");
  assertEquals(wordsOf("MOST_LINES"), "most lines");
  assertEquals(replacementFor("MOST_LINES"), "MAX_");
  assertEquals(replacementFor("readSealOf"), "ReasoningSignature, signature");
  assertEquals(replacementFor("SealedBox"), null);
});
