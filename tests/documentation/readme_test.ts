import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../architecture/source_files.ts";

const README = await Deno.readTextFile(join(ROOT, "README.md"));

Deno.test("README: fits on two screens", () => {
  const count = README.trimEnd().split("\n").length;
  assert(count <= 100, `${count} lines`);
});

Deno.test("README: shows three images of the console in a row, each with a text in its place", async () => {
  const images = [...README.matchAll(/<img src="(docs\/console\/[\w-]+\.png)" width="32%" alt="[^"]+">/g)];
  assertEquals(images.length, 3);
  for (const [, path = ""] of images) assert((await Deno.stat(join(ROOT, path))).isFile);
});

Deno.test("README: every figure stands in the results that its sentence names", async () => {
  const missing: string[] = [];
  let checked = 0;
  for (const [item] of README.matchAll(/^- \*\*[^]*?(?=\n- |\n\n)/gm)) {
    const files = [...item.matchAll(/\]\((bench\/[\w-]+\.md)\)/g)].map(([, file = ""]) => file);
    if (files.length === 0) continue;
    const results = (await Promise.all(files.map((file) => Deno.readTextFile(join(ROOT, file))))).join("\n");
    for (const [figure] of item.replace(/`[^`]*`/g, "").matchAll(/\d[\d.,]*\d|\d/g)) {
      checked++;
      if (!new RegExp(`(?<![\\d.,])${figure.replaceAll(".", "\\.")}(?![\\d]|[.,]\\d)`).test(results)) {
        missing.push(`${figure} in ${files}`);
      }
    }
  }
  assertEquals(missing, []);
  assert(checked >= 8, `${checked} figures`);
});

Deno.test("documentation: the index lists every guide once", async () => {
  const index = await Deno.readTextFile(join(ROOT, "docs/README.md"));
  const listed = [...index.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name = ""]) => name);
  const pages: string[] = [];
  for await (const { name } of Deno.readDir(join(ROOT, "docs"))) {
    if (name.endsWith(".md") && name !== "README.md") pages.push(name.slice(0, -".md".length));
  }
  assertEquals(listed.toSorted(), pages.toSorted());
});

Deno.test("documentation: guides on installing have no sizes of builds, which bench measures", async () => {
  for (const page of ["README.md", "docs/installing.md", "docs/get-started.md"]) {
    const text = (await Deno.readTextFile(join(ROOT, page))).replaceAll(/^- \*\*[^]*?(?=\n- |\n\n)/gm, "");
    assertEquals(text.match(/\d+(?:\.\d+)? [MG]B/g) ?? [], [], page);
  }
});
