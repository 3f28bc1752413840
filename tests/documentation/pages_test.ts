import { assert, assertEquals } from "@std/assert";
import { renderPage } from "../../src/protocols/documentation/page.ts";
import { readPageTexts } from "../../src/protocols/documentation/texts.ts";
import { present } from "../support/items.ts";

const texts = await readPageTexts();
const html = new Map([...texts.keys()].map((name) => [name, renderPage(name, texts)]));

/** The main part of a page; the rest is the same for all. */
function mainOf(name: string): string {
  return present(/<main>([^]*)<\/main>/.exec(html.get(name) ?? "")?.[1], name);
}

Deno.test("/docs: every link leads to a page and an anchor that exist", () => {
  const broken: string[] = [];
  let checked = 0;
  for (const name of texts.keys()) {
    for (const [, href = ""] of mainOf(name).matchAll(/<a href="([^"]*)"/g)) {
      if (/^[a-z]+:/i.test(href)) continue;
      checked++;
      const [path = "", anchor] = href.split("#");
      const target = path === "" ? name : path.replace(/^\/docs\//, "");
      const page = html.get(target);
      if (page === undefined || (anchor !== undefined && !page.includes(`id="${decodeURIComponent(anchor)}"`))) {
        broken.push(`${name}: ${href}`);
      }
    }
  }
  assertEquals(broken, []);
  assert(checked > 500, `${checked} links`);
});

Deno.test("/docs: a link out of the documentation is text, also if a page has the file's name", () => {
  const pages = new Map([["README", "# Index"], ["api/README", "# API"], [
    "api/one",
    "# One\n\n[a](../../README.md#x) [b](../README.md) [c](README.md#y)",
  ]]);
  const main = renderPage("api/one", pages);
  assert(main.includes('<p>a <a href="/docs/README">b</a> <a href="/docs/api/README#y">c</a></p>'), main);
});

Deno.test("/docs: limits and security are pages of their own, which the index leads to", () => {
  for (const name of ["limits", "security", "api/limits"]) assert(texts.has(name), name);
  for (const name of ["limits", "security"]) assert(mainOf("README").includes(`href="/docs/${name}"`), name);
});

Deno.test("documentation: no page has two sections of one name, which could say different things", () => {
  const twice: string[] = [];
  for (const [name, text] of texts) {
    const headings: string[] = text.replaceAll(/^```[^]*?^```/gm, "").match(/^## .*$/gm) ?? [];
    twice.push(...headings.filter((each, at) => headings.indexOf(each) !== at).map((each) => `${name}: ${each}`));
  }
  assertEquals(twice, []);
});
