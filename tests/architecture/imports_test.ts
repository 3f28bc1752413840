import { assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { itemAt, present } from "../support/items.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

/** The layers of the source tree, highest first: the table in ARCHITECTURE.md. */
const LAYERS = layersIn(await Deno.readTextFile(join(ROOT, "ARCHITECTURE.md")));

/** Folders that must not import each other although they are in one layer. */
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

/** The paths of each layer, from the rows of the table below "## Layers": its second column names them in code. */
function layersIn(page: string): string[][] {
  const section = itemAt(page.split("\n## Layers\n"), 1).split("\n## ", 1).join();
  const rows = section.split("\n").filter((line) => line.startsWith("|") && line.includes("`"));
  return rows.map((row) => [...itemAt(row.split("|"), 2).matchAll(/`([^`]+)`/g)].map((match) => itemAt(match, 1)));
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

const rankOf = (file: string) =>
  LAYERS.findIndex((paths) => paths.some((path) => file === path || file.startsWith(`${path}/`)));

function folderOf(file: string): string | null {
  for (const pattern of FOLDERS) {
    const match = pattern.exec(file);
    if (match) return itemAt(match, 1);
  }
  return null;
}

Deno.test("source tree: every file belongs to a layer of ARCHITECTURE.md, and every layer has files", () => {
  assertEquals(files.filter((file) => rankOf(file) === -1), []);
  assertEquals(LAYERS.filter((_, rank) => !files.some((file) => rankOf(file) === rank)), []);
});

Deno.test("source tree: no file imports from a layer above its own", () => {
  assertEquals(imports.filter(({ from, to }) => rankOf(to) < rankOf(from)), []);
});

Deno.test("source tree: folders of one layer do not import each other", () => {
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
