import { assertEquals, assertStringIncludes } from "@std/assert";
import { rootResponse } from "../../src/platform/http/root_page.ts";
import { startTestGateway } from "../support/gateway.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

for (const isolates of [1, 2]) {
  Deno.test(`GET / is a page with links that work for a browser, JSON for programs; threads: ${isolates}`, async () => {
    const gateway = await startTestGateway({ isolates });
    for (const accept of ["*/*", "application/json", "text/htmlx"]) {
      const response = await fetch(`${gateway.address}/`, { headers: { accept } });
      assertEquals(await response.json(), { service: "switchyard", status: "ok" });
    }
    const response = await fetch(`${gateway.address}/`, { headers: { accept: BROWSER } });
    assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
    assertEquals(response.headers.get("vary"), "accept");
    const links = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(([, path]) => path);
    assertEquals(links, ["/console", "/docs", "/openapi.json"]);
    for (const path of links) {
      const linked = await fetch(`${gateway.address}${path}`);
      assertEquals(linked.status, 200, path);
      await linked.body?.cancel();
    }
    await gateway.stop();
  });
}

Deno.test("the page at the base address has no links to what the gateway does not serve", async () => {
  const page = await rootResponse(BROWSER, (path) => path === "/docs").text();
  assertStringIncludes(page, 'href="/docs"');
  assertEquals(page.includes("/console"), false);
});
