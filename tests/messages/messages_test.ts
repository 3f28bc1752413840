import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "../architecture/source_files.ts";
import { textsIn } from "./texts.ts";

const GOLDEN = join(ROOT, "tests/messages/messages.txt");

/** The texts of all source files, sorted, below the name of the folder that holds them. */
async function allTexts(): Promise<string> {
  const byFolder = new Map<string, Set<string>>();
  for (const file of ["main.ts", ...await sourceFiles("src")]) {
    const folder = file.split("/").slice(0, -1).slice(0, 2).join("/") || ".";
    const texts = byFolder.get(folder) ?? new Set();
    byFolder.set(folder, texts);
    for (const text of textsIn(await Deno.readTextFile(join(ROOT, file)), file)) texts.add(text);
  }
  const sections = [...byFolder].filter(([, texts]) => texts.size > 0).sort(([a], [b]) => a < b ? -1 : 1);
  return sections.map(([folder, texts]) => `# ${folder}\n\n${[...texts].sort().join("\n")}\n`).join("\n");
}

Deno.test("messages: every text that a caller or an operator reads is as recorded", async () => {
  const texts = await allTexts();
  if (Deno.env.get("SWITCHYARD_WRITE_MESSAGES")) await Deno.writeTextFile(GOLDEN, texts);
  // A changed text is reviewed in messages.txt; `deno task messages` writes it anew.
  assertEquals(texts, await Deno.readTextFile(GOLDEN));
});

Deno.test("messages: joined literals and templates are read as one text", () => {
  const source = 'fail("The model " + model.id + ` does not take ${names.join(", ")} here`, { code: "no_such" });';
  assertEquals(textsIn(source), ["The model {id} does not take {join()} here"]);
});

Deno.test("messages: a text inside a template's value is read too", () => {
  assertEquals(textsIn('x(`Send ${many ? "all of them" : "one"} now please`)'), [
    "Send {…} now please",
    "all of them",
  ]);
});
