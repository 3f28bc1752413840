import { assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { itemAt, present } from "../support/items.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

/** The groups of the source tree, highest first; a group may import those below it. */
const GROUPS: readonly (readonly [name: string, members: RegExp])[] = [
  ["main", /^main\.ts/],
  ["cli", /^src\/cli\//],
  ["app", /^src\/app\//],
  // Serves texts in threads: above the texts, below the app, which builds what a thread runs.
  ["large requests", /^src\/large_requests\//],
  // Above the layers, as each of them gets its own section of the configuration as an argument.
  ["config", /^src\/config\//],
  ["faces", /^src\/(protocols|sandbox)\//],
  ["work", /^src\/(texts|images|videos)\//],
  ["shared", /^src\/(caches|webhooks)\//],
  // What every paid call shares: caches are paid for as texts and images are.
  ["calls", /^src\/calls\//],
  ["ownership", /^src\/ownership\//],
  ["choice", /^src\/routing\//],
  ["facts", /^src\/(catalog|upstreams)\//],
  // Below the catalog, as a model carries its tariff.
  ["money", /^src\/billing\//],
  ["forms", /^src\/(conversation|http|store|files)\//],
  ["edge", /^src\/(net|workers)\//],
  ["ground", /^src\/lib\//],
];

/** Folders that must not know each other although they stand in one group. */
const FOLDERS: readonly RegExp[] = [
  /^src\/(protocols\/[^/]+)\//,
  /^src\/(upstreams\/[^/]+)\//,
  /^src\/(conversation\/codecs\/[^/]+)\//,
  /^src\/([^/]+)\//,
];

interface Import {
  readonly from: string;
  readonly to: string;
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await Deno.readTextFile(join(ROOT, file));
  const found = text.matchAll(
    /^(?:import|export)\b[^"'`;]*?from "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)|^import "(\.[^"]+)"/gm,
  );
  return [...found].map(([, from, dynamic, bare]) => ({
    from: file,
    to: relative(ROOT, join(ROOT, dirname(file), present(from ?? dynamic ?? bare, "path of the import"))),
  }));
}

const files = ["main.ts", ...await sourceFiles("src")];
const imports = (await Promise.all(files.map(importsOf))).flat();

const rankOf = (file: string) => GROUPS.findIndex(([, members]) => members.test(file));

function folderOf(file: string): string | null {
  for (const pattern of FOLDERS) {
    const match = pattern.exec(file);
    if (match) return itemAt(match, 1);
  }
  return null;
}

Deno.test("source tree: every file belongs to a group", () => {
  assertEquals(files.filter((file) => rankOf(file) === -1), []);
});

Deno.test("source tree: no file imports from a group above its own", () => {
  assertEquals(imports.filter(({ from, to }) => rankOf(to) < rankOf(from)), []);
});

Deno.test("source tree: folders of one group do not import each other", () => {
  const sideways = imports.filter(({ from, to }) => {
    if (rankOf(from) !== rankOf(to)) return false;
    const [own, other] = [folderOf(from), folderOf(to)];
    // A folder may use its own parts, and a part what its folder shares among them.
    return own !== other && !`${own}/`.startsWith(`${other}/`) && !`${other}/`.startsWith(`${own}/`);
  });
  assertEquals(sideways, []);
});

Deno.test("source tree: no imports go in a circle", () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports) next.set(from, [...next.get(from) ?? [], to]);
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
    if (done.has(file) || path.includes(file)) return;
    for (const other of next.get(file) ?? []) visit(other, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  assertEquals(circles, []);
});
