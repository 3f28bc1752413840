import { marked, type Tokens } from "marked";
import { DOCUMENTATION_ROOT } from "../../platform/endpoints/service.ts";
import { escapeHtml, framed } from "./html.ts";
import { REFERENCE_PATH, REFERENCE_TITLE } from "./reference/page.ts";
import type { PageTexts } from "./texts.ts";

/** Whether a link leads to another host. */
const ABSOLUTE = /^[a-z]+:/i;

/**
 * A page of the documentation as HTML. Links to other pages lead to their addresses below `/docs`. Links to files that
 * are no pages, and pictures, become text: the gateway does not serve them.
 *
 * @param name The name of a page in `texts`.
 */
export function renderPage(name: string, texts: PageTexts): string {
  const tokens = marked.lexer(texts.get(name) ?? "");
  const anchors = new Map<string, number>();
  const render = new marked.Renderer();
  render.heading = function ({ tokens, depth, text }: Tokens.Heading): string {
    const id = anchorOf(text, anchors);
    return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
  };
  render.link = function ({ href, tokens }: Tokens.Link): string {
    const text = this.parser.parseInline(tokens);
    const target = ABSOLUTE.test(href) || href.startsWith("#") ? href : pageAddress(href, name, texts);
    return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
  };
  render.image = ({ text }: Tokens.Image) => escapeHtml(text);
  return framed(titleOf(tokens), navigationOf(name, texts), marked.parser(tokens, { renderer: render }));
}

/**
 * Links to all pages.
 *
 * @param current The page that is shown, which is not a link.
 */
export function navigationOf(current: string, texts: PageTexts): string {
  const items = [...texts].map(([name, text]) => {
    const title = escapeHtml(/^# (.*)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? name);
    const label = name.startsWith("api/") ? `API: ${title}` : title;
    return name === current
      ? `<li aria-current="page">${label}</li>`
      : `<li><a href="${FOLDER}${escapeHtml(name)}">${label}</a></li>`;
  });
  const reference = current === REFERENCE_PATH
    ? `<li aria-current="page">${REFERENCE_TITLE}</li>`
    : `<li><a href="${FOLDER}${REFERENCE_PATH}">${REFERENCE_TITLE}</a></li>`;
  return `<ul>${reference}${items.join("")}</ul>`;
}

function titleOf(tokens: readonly { readonly type: string }[]): string {
  const heading = tokens.find((token): token is Tokens.Heading => token.type === "heading");
  return heading?.text.replaceAll("`", "") ?? "Documentation";
}

/** An anchor as GitHub makes it, so that links of the pages work in both places. */
function anchorOf(heading: string, used: Map<string, number>): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  const base = plain.replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
  const count = used.get(base) ?? 0;
  used.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

/** The address of the page that a relative link leads to; null if it is none. A link out of `docs` leads to none. */
function pageAddress(href: string, from: string, texts: PageTexts): string | null {
  const { pathname, hash } = new URL(href, `http://repository${FOLDER}${from}`);
  if (!pathname.startsWith(FOLDER)) return null;
  const name = decodeURIComponent(pathname.slice(FOLDER.length)).replace(/\.md$/, "");
  return texts.has(name) ? `${FOLDER}${name}${hash}` : null;
}

/** Where the pages are, in the repository and at the gateway. */
const FOLDER = `${DOCUMENTATION_ROOT}/`;
