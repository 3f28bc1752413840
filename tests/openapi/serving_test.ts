import { assert, assertEquals, assertMatch } from "@std/assert";
import { type ApiDescription, readDescription } from "../../src/protocols/documentation/api_description.ts";
import { startDevGateway } from "./dev_gateway.ts";

Deno.test("/openapi.json is public, names this gateway, and is not sent twice", async () => {
  const { address, stop } = await startDevGateway();
  try {
    const first = await fetch(`${address}/openapi.json`);
    assertEquals([first.status, first.headers.get("content-type")], [200, "application/json"]);
    assertMatch(first.headers.get("cache-control") ?? "", /public/);
    const { servers, paths } = await first.json();
    assertEquals(servers, [{ url: address }]);
    assertEquals(Object.keys(paths), Object.keys((await readDescription()).paths));
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(`${address}/openapi.json`, { headers: { "if-none-match": etag } });
    assertEquals([again.status, await again.text()], [304, ""]);
  } finally {
    await stop();
  }
});

Deno.test("/docs/api-reference leads to every operation, without scripts, styles and other hosts", async () => {
  const { address, stop } = await startDevGateway();
  try {
    const index = await (await fetch(`${address}/docs/api-reference`)).text();
    const links = [...index.matchAll(/href="(\/docs\/api-reference\/[^"]+)"/g)].map(([, link = ""]) => link);
    const pages = new Map<string, string>();
    for (const link of new Set(links.map((each) => each.replace(/#.*/, "")))) {
      const response = await fetch(address + link);
      assertEquals([response.status, response.headers.get("content-type")], [200, "text/html; charset=utf-8"], link);
      assertMatch(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
      pages.set(link, await response.text());
    }
    for (const [link, html] of pages) {
      const markup = html.replaceAll(/<pre>[^]*?<\/pre>|<code>[^]*?<\/code>/g, "");
      assert(!/<(?:script|img|iframe|link rel="(?!stylesheet))|src=|style=|onclick=/.test(markup), link);
      assert(html.includes('name="viewport"'), link);
      const ids = idsIn(html);
      assertEquals(ids.length, new Set(ids).size, `${link} has an anchor twice`);
      const missing = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id = ""]) => id).filter((id) => !ids.includes(id));
      assertEquals([...new Set(missing)], [], link);
    }
    for (const link of links.filter((each) => each.includes("#"))) {
      const [page = "", id = ""] = link.split("#");
      assert(idsIn(pages.get(page) ?? "").includes(id), link);
    }
    const shown = [...pages.values()].join("\n");
    const absent = operationIdsOf(await readDescription()).filter((id) => !shown.includes(`<h2 id="${id}">`));
    assertEquals(absent, []);
    assertEquals((await fetch(`${address}/docs/api-reference/none`)).status, 404);
  } finally {
    await stop();
  }
});

function idsIn(html: string): string[] {
  return [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);
}

function operationIdsOf({ paths, webhooks }: ApiDescription): string[] {
  return [paths, webhooks].flatMap((part) =>
    Object.values(part).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  );
}
