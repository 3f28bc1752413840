import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { printable } from "../../src/entry/cli/print.ts";
import { ROOT, sourceFiles } from "../architecture/source_files.ts";

Deno.test("printable() writes what controls a terminal as JSON does, and keeps lines, tabs and other letters", () => {
  assertEquals(
    printable("a\u001b[2Jb\u0007\rc\u009b1md\u202ee\u007f"),
    "a\\u001b[2Jb\\u0007\\u000dc\\u009b1md\\u202ee\\u007f",
  );
  assertEquals(printable("one\n\ttwo é 漢字 🙂"), "one\n\ttwo é 漢字 🙂");
  const value = { text: "\u001b\u009b\u202e\u0085" };
  assertEquals(JSON.parse(printable(JSON.stringify(value, null, 2))), value);
});

Deno.test("commands print by print() and printError() alone, which keep control characters from the terminal", async () => {
  const files = await sourceFiles("src/entry/cli");
  const found: string[] = [];
  for (const path of files) {
    if (/console\.(log|error|warn|info|debug)/.test(await Deno.readTextFile(join(ROOT, path)))) found.push(path);
  }
  assertEquals(found, ["src/entry/cli/print.ts"]);
});
