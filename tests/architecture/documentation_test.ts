import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { itemAt } from "../support/items.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

const EXPORTED =
  /^export (?:default |declare |abstract |async )*(?:function\*?|class|interface|type|const|let|enum) (\w+)/;

/** Names that are exported without a doc comment right above them. Overloads share the comment of the first. */
function undocumented(text: string): string[] {
  const lines = text.split("\n");
  const documented = new Set<string>();
  const missing: string[] = [];
  for (const [at, line] of lines.entries()) {
    const name = EXPORTED.exec(line)?.[1];
    if (!name) continue;
    let above = at - 1;
    while (above >= 0 && /^\s*(@|\/\/)/.test(itemAt(lines, above))) above--;
    if (/\*\/\s*$/.test(lines[above] ?? "")) documented.add(name);
    else if (!documented.has(name)) missing.push(name);
  }
  return missing;
}

Deno.test("source tree: every exported name has a doc comment", async () => {
  const missing: string[] = [];
  for (const file of await sourceFiles("src")) {
    missing.push(...undocumented(await Deno.readTextFile(join(ROOT, file))).map((name) => `${file}: ${name}`));
  }
  assertEquals(missing, []);
});

Deno.test("source tree: texts speak of the product alone", async () => {
  const words = /\/work\/|shared\/reference|\bTODO\b|\bFIXME\b|registry\.npmjs|issue #?\d/;
  const found: string[] = [];
  for (const folder of ["src", "docs", "bench"]) {
    for (const file of await sourceFiles(folder)) {
      if (words.test(await Deno.readTextFile(join(ROOT, file)))) found.push(file);
    }
  }
  assertEquals(found, []);
});
