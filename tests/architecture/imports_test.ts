import { assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { itemAt, present } from "../support/items.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

/** The layers of the source tree, highest first: the table in ARCHITECTURE.md. */
const LAYERS = layersIn(await Deno.readTextFile(join(ROOT, "ARCHITECTURE.md")));

/** Folders that must not import each other although they are in one layer. */
const FOLDERS: readonly RegExp[] = [
  /^src\/(protocols\/[^/]+)\//,
  /^src\/(vendors\/upstreams\/(?!(?:contract|call|shared|settings|opening)\/)[^/]+)\//,
  /^src\/(conversation\/codecs\/[^/]+)\//,
  /^src\/((?:entry|money|observers|platform|threads|vendors|services)\/[^/]+)\//,
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

/** The folders around a file, outermost first: `src/services/videos`, then `src/services/videos/tasks`. */
function foldersOf(file: string): string[] {
  const steps = dirname(file).split("/");
  return steps.map((_, index) => steps.slice(0, index + 1).join("/"));
}

/** The folders that two files do not share, one next to the other; null for files of one folder and its parts. */
function siblingsOf({ from, to }: Import): readonly [from: string, to: string] | null {
  const [own, others] = [foldersOf(from), foldersOf(to)];
  const index = own.findIndex((folder, nth) => folder !== others[nth]);
  const [folder, other] = [own[index], others[index]];
  return folder === undefined || other === undefined ? null : [folder, other];
}

/** The circles of files or folders: "src/a/tasks -> src/a/results -> src/a/tasks". */
function circlesAmong(arrows: Iterable<readonly [from: string, to: string]>): string[] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of arrows) next.set(from, (next.get(from) ?? new Set()).add(to));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (node: string, path: readonly string[]) => {
    if (path.includes(node)) circles.push([...path.slice(path.indexOf(node)), node].join(" -> "));
    if (done.has(node) || path.includes(node)) return;
    for (const other of next.get(node) ?? []) visit(other, [...path, node]);
    done.add(node);
  };
  for (const node of next.keys()) visit(node, []);
  return circles;
}

Deno.test("source tree: folders at every depth have an order", () => {
  assertEquals(circlesAmong(imports.map(siblingsOf).filter((arrow) => arrow !== null)), []);
});

/** Folders whose own files import their parts, and whose parts import these files. None may be added. */
const MIXED_FOLDERS = [
  "src/console/client",
  "src/console/client/pages/playground",
  "src/entry/cli",
  "src/platform/net",
  "src/protocols",
  "src/protocols/documentation",
  "src/sandbox",
  "src/sandbox/families",
  "src/vendors/prices",
  "src/vendors/upstreams",
];

/** An arrow between the own files of a folder, as `folder/*`, and one of its parts; null for other imports. */
function ownArrowOf({ from, to }: Import): readonly [from: string, to: string] | null {
  const [own, others] = [dirname(from), dirname(to)];
  if (others.startsWith(`${own}/`)) return [`${own}/*`, itemAt(foldersOf(to), own.split("/").length)];
  if (own.startsWith(`${others}/`)) return [itemAt(foldersOf(from), others.split("/").length), `${others}/*`];
  return null;
}

Deno.test("source tree: the own files of a folder are above its parts, or below them", () => {
  const arrows = imports.flatMap((each) => [siblingsOf(each), ownArrowOf(each)]).filter((arrow) => arrow !== null);
  const mixed = circlesAmong(arrows).flatMap((circle) => /(\S+)\/\*/.exec(circle)?.[1] ?? []);
  assertEquals([...new Set(mixed)].sort(), MIXED_FOLDERS);
});

Deno.test("source tree: no folder has more than 25 files", async () => {
  const counts = new Map<string, number>();
  for (const path of await sourceFiles("src")) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  assertEquals([...counts].filter(([, count]) => count > 25), []);
});

Deno.test("source tree: the simulated vendors import formats and the library only", () => {
  const beyond = imports.filter(({ from, to }) =>
    from.startsWith("src/sandbox/") && !/^src\/(?:sandbox|conversation|platform\/(?:lib|names))\//.test(to)
  );
  assertEquals(beyond, []);
});

Deno.test("source tree: no imports go in a circle", () => {
  assertEquals(circlesAmong(imports.map(({ from, to }) => [from, to] as const)), []);
  assertEquals(circlesAmong([["a", "b"], ["b", "c"], ["c", "a"], ["c", "d"]]), ["a -> b -> c -> a"]);
});
