import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source_files.ts";

/** It runs in the browser, with lists that the console has asked for. */
const CLIENT = "src/console/client/";

/** Items of a list as arguments. The platform throws a `RangeError` above some 100,000. */
const SPREAD = /\.(?:push|unshift)\(\s*\.\.\./g;

Deno.test("lists: however many items a caller or a vendor sends, they are added by appendAll()", async () => {
  const found: string[] = [];
  for (const file of await sourceFiles("src")) {
    if (file.startsWith(CLIENT)) continue;
    const code = (await Deno.readTextFile(join(ROOT, file))).replaceAll(/^\s*(?:\*|\/\*|\/\/).*$/gm, "");
    for (const [use] of code.matchAll(SPREAD)) found.push(`${file}: ${use}`);
  }
  assertEquals(found, []);
});
