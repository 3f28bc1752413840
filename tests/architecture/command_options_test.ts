import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source_files.ts";

Deno.test("commands read their options by parseOptions(), so that all word mistakes alike", async () => {
  const users: string[] = [];
  for (const file of await sourceFiles("src/entry/cli")) {
    if ((await Deno.readTextFile(join(ROOT, file))).includes("parseArgs(")) users.push(file);
  }
  assertEquals(users, ["src/entry/cli/command_options.ts"]);
});
