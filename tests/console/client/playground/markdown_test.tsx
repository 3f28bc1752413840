import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { render } from "preact-render-to-string";
import { textOfEntities } from "../../../../src/console/client/pages/playground/entities.ts";
import { Markdown } from "../../../../src/console/client/pages/playground/markdown.tsx";

const html = (text: string) => render(<Markdown text={text} />);

Deno.test("Markdown: headings, lists, tables, code, quotes and emphasis become elements", () => {
  const shown = html(
    "# One\n\n- [x] **two** *three* ~~four~~\n\n3. five\n\n| a | b |\n|--|--:|\n| `x<y` | 1 |\n\n```js\nlet a = 1;\n```\n\n> six\n\n---\n",
  );
  for (
    const part of [
      'aria-level="4"',
      "<strong>two</strong>",
      "<em>three</em>",
      "<del>four</del>",
      '<ol start="3">',
      "<code>x&lt;y</code>",
      '<td class="numeric">1</td>',
      "let a = 1;</code></pre>",
      "<blockquote><p>six</p></blockquote>",
      "<hr/>",
    ]
  ) assert(shown.includes(part), `${part} in ${shown}`);
});

Deno.test("Markdown: links lead to http, https and mailto alone, in a tab of their own", () => {
  assertEquals(
    html("[a](https://example.com/b)"),
    '<div class="markdown"><p><a href="https://example.com/b" target="_blank" rel="noopener noreferrer">a</a></p></div>',
  );
  for (
    const address of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "&#106;avascript:alert(1)",
      "data:text/html,x",
      "vbscript:x",
      "blob:x",
      "//example.com",
      "/console/session",
      "file:///etc/passwd",
    ]
  ) assert(!html(`[a](${address}) <${address}>`).includes("<a "), address);
  assert(html("![a](https://example.com/b.png)").includes('<a href="https://example.com/b.png"'));
});

Deno.test("Markdown: characters that are named are shown, and unknown names stay", () => {
  assertEquals(
    textOfEntities("&lt;b&gt; &amp;amp; &#65;&#x42; &unknown; &#0; &#9999999;"),
    "<b> &amp; AB &unknown; \ufffd \ufffd",
  );
  assert(html("&lt;script&gt;").includes("&lt;script>") || html("&lt;script&gt;").includes("&lt;script&gt;"));
});

const ALLOWED = new Set(
  "div p strong em del code pre blockquote ul ol li input table thead tbody tr th td hr br a".split(" "),
);
const ATTRIBUTES = new Set(
  "class tabindex role aria-level start type checked disabled href target rel".split(" "),
);

Deno.test("Markdown: no text becomes an element or an attribute that is not among the fixed ones", () => {
  const piece = fc.constantFrom(
    ..."<img src=x onerror=y>|<script>|</script>|<a href='javascript:x'>|[x](javascript:y)|![x](http://y)|`|```|**|_|#|- |1. ||a|b||--|> |&lt;|<svg/onload=x>|\"|'|\n|\n\n|  |<!--|-->|<![CDATA[|]]>|<style>|text"
      .split("|"),
  );
  fc.assert(fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
    const shown = html(pieces.join(""));
    for (const [, name = "", attributes = ""] of shown.matchAll(/<\/?([a-zA-Z][^\s/>]*)((?:"[^"]*"|[^>"])*)>/g)) {
      assert(ALLOWED.has(name), `<${name}> in ${shown}`);
      for (const [, attribute = ""] of attributes.matchAll(/([^\s="/]+)(?:="[^"]*")?/g)) {
        assert(ATTRIBUTES.has(attribute.toLowerCase()), `${attribute} in ${shown}`);
      }
    }
  }));
});
