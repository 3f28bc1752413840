import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { needlessExports, parsed, reExports } from "./exports.ts";
import { ROOT } from "./source_files.ts";
import { sourceTrees } from "./source_trees.ts";

const trees = await sourceTrees();

async function packageFiles(): Promise<Record<string, string>> {
  const { imports } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const own = Object.entries<string>(imports).filter(([, target]) => target.startsWith("./"));
  return Object.fromEntries(own.map(([name, target]) => [name, target.slice(2)]));
}

Deno.test("source tree: every exported name is imported by another file or stands in the signature of one that is", async () => {
  assertEquals(needlessExports(trees, await packageFiles()), []);
});

Deno.test("source tree: names are imported from the file that declares them", () => {
  assertEquals(reExports(trees), []);
});

Deno.test("source tree: the search for needless exports finds values and types, and spares types in signatures", () => {
  const files = parsed(
    new Map([
      [
        "src/a.ts",
        "export function a(b: B): void {}\nexport interface B {}\nexport interface C {}\nexport const d = 1;",
      ],
      ["src/b.ts", 'import { a } from "./a.ts";\na({});'],
    ]),
  );
  assertEquals(needlessExports(files, {}).map(({ name }) => name), ["C", "d"]);
});

Deno.test("source tree: the search for names that are exported again spares the public face of a folder", () => {
  const text = 'export { a } from "./a.ts";';
  const files = parsed(new Map([["src/b.ts", text], ["src/c/mod.ts", text]]));
  assertEquals(reExports(files), [{ file: "src/b.ts", name: "{ a }" }]);
});
