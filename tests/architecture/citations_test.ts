import { assertEquals } from "@std/assert";
import { dirname, join, normalize } from "node:path";
import { anchorsOf, relativeLinksOf } from "./markdown.ts";
import { filesOf, ROOT } from "./source_files.ts";

/** Folders whose files are code. */
const CODE_FOLDERS = ["src", "tests", "bench", "scripts"];
/** Folders whose files hold pages. */
const PAGE_FOLDERS = ["docs", "bench", "examples"];

const CITATION = /\bdocs\/[\w./-]*?\.md(?:#[\w-]+)?/g;
/** A heading in quotes is not checked, so it must be an anchor. */
const QUOTED_HEADING = /\bdocs\/[\w./-]*?\.md,(?:\s|\*)+"/g;
/** Two documents that the project was planned by, in pieces, as no file may name them. */
const FOREIGN_DOCUMENT = new RegExp(["\\bSP" + "EC\\b", "\\bDES" + "IGN\\b"].join("|"));

Deno.test("anchorsOf() makes anchors as GitHub does", () => {
  const page = "# Tasks\n## `POST /v1/videos` (create)\n## [Lists](a.md) & more\n```\n# no heading\n```\n## Tasks\n";
  assertEquals([...anchorsOf(page)], ["tasks", "post-v1videos-create", "lists--more", "tasks-1"]);
});

Deno.test("relativeLinksOf() finds links to files and headings, outside of code", () => {
  const page = "[a](a.md#b) [web](https://example.com) `[no](no.md)` [here](#c)\n```\n[no](no.md)\n```\n[d]: d.md\n";
  assertEquals(relativeLinksOf(page), ["a.md#b", "#c", "d.md"]);
});

Deno.test("source tree: every page and heading that code cites exists", async () => {
  const broken: string[] = [];
  for (const file of await codeFiles()) {
    const text = await Deno.readTextFile(join(ROOT, file));
    for (const [citation] of text.matchAll(CITATION)) {
      const problem = await problemWith(citation);
      if (problem !== null) broken.push(`${file}: ${citation}: ${problem}`);
    }
    for (const [citation] of text.matchAll(QUOTED_HEADING)) broken.push(`${file}: ${citation}: cite it by its anchor`);
  }
  assertEquals(broken, []);
});

Deno.test("pages: every relative link leads to a file and a heading that exist", async () => {
  const broken: string[] = [];
  for (const file of await pageFiles()) {
    for (const link of relativeLinksOf(await Deno.readTextFile(join(ROOT, file)))) {
      const target = link.startsWith("#") ? file + link : normalize(join(dirname(file), link));
      const problem = await problemWith(target);
      if (problem !== null) broken.push(`${file}: ${link}: ${problem}`);
    }
  }
  assertEquals(broken, []);
});

Deno.test("source tree: no file cites a document that the repository does not hold", async () => {
  const found: string[] = [];
  for (const file of [...await codeFiles(), ...await pageFiles()]) {
    const lines = (await Deno.readTextFile(join(ROOT, file))).split("\n");
    for (const [at, line] of lines.entries()) if (FOREIGN_DOCUMENT.test(line)) found.push(`${file}:${at + 1}: ${line}`);
  }
  assertEquals(found, []);
});

/** A part of a path in a recipe that its reader replaces, or that begins a new file or folder. */
const PLACEHOLDER = /acme|whoami|[<…]/;
/** A path from the root, in text or in a block of code. */
const NAMED_PATH = /(?<![\w./-])(?:src|tests|scripts|docs|ops|bench|examples)\/[\w./<>…-]*[\w>…]/g;

Deno.test("CONTRIBUTING.md: every path exists, and that of a new file is in a folder that exists", async () => {
  const broken: string[] = [];
  for (const [path] of (await Deno.readTextFile(join(ROOT, "CONTRIBUTING.md"))).matchAll(NAMED_PATH)) {
    const parts = path.split("/");
    const firstNew = parts.findIndex((part) => PLACEHOLDER.test(part));
    const existing = parts.slice(0, firstNew < 0 ? parts.length : firstNew).join("/");
    if (await problemWith(existing) !== null) broken.push(path);
  }
  assertEquals(broken, []);
});

async function codeFiles(): Promise<string[]> {
  const files = await Promise.all(CODE_FOLDERS.map((folder) => filesOf(folder, ".ts")));
  return ["main.ts", ...files.flat()];
}

/** Markdown at the root and in the folders that have some. */
async function pageFiles(): Promise<string[]> {
  const files = await Promise.all(PAGE_FOLDERS.map((folder) => filesOf(folder, ".md")));
  const atRoot = await Array.fromAsync(Deno.readDir(ROOT));
  return [...atRoot.filter(({ name }) => name.endsWith(".md")).map(({ name }) => name), ...files.flat()];
}

const anchorsByPage = new Map<string, Set<string>>();

/** What is wrong with `path#anchor`, the path counted from the root; null when both exist. */
async function problemWith(target: string): Promise<string | null> {
  const [path = "", anchor] = decodeURI(target).split("#");
  const found = await Deno.stat(join(ROOT, path)).catch(() => null);
  if (found === null) return "no such file";
  if (anchor === undefined || !path.endsWith(".md")) return null;
  let anchors = anchorsByPage.get(path);
  if (anchors === undefined) anchorsByPage.set(path, anchors = anchorsOf(await Deno.readTextFile(join(ROOT, path))));
  return anchors.has(anchor) ? null : "no such heading";
}
