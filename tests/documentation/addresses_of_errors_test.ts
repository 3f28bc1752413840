import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import type { ErrorCode, FinerCode } from "../../src/platform/lib/basics/gateway_error.ts";
import { anchorsOf } from "../architecture/markdown.ts";
import { ROOT } from "../architecture/source_files.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startVideoGateway, VALID_BODY } from "../support/video_gateway.ts";

/** The compiler refuses a code that is missing here. */
const CODES: Readonly<Record<ErrorCode | FinerCode, true>> = {
  invalid_request: true,
  invalid_provider_type: true,
  provider_type_unavailable: true,
  unauthorized: true,
  invalid_api_key: true,
  upstream_auth_failed: true,
  insufficient_credits: true,
  permission_denied: true,
  not_found: true,
  model_not_found: true,
  method_not_allowed: true,
  conflict: true,
  request_too_large: true,
  rate_limited: true,
  overloaded: true,
  storage_unavailable: true,
  upstream_error: true,
  route_error: true,
  upstream_timeout: true,
  internal_error: true,
  invalid_callback_url: true,
  references_conflict: true,
  too_many_references: true,
  cancel_not_supported: true,
  cancel_failed: true,
};

Deno.test("troubleshooting: every error code has a section, and every section below a group is a code", async () => {
  const page = await Deno.readTextFile(join(ROOT, "docs/troubleshooting.md"));
  const sections = [...page.matchAll(/^### (.*)$/gm)].map(([, name]) => name);
  assertEquals(sections.toSorted(), Object.keys(CODES).toSorted());
});

Deno.test("errors carry the address of their section: in the body of three protocols, in a header of all", async () => {
  const gateway = await startTestGateway();
  const { address, key, adminKey } = gateway;
  const bearer = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const help = `${address}/docs/troubleshooting`;
  try {
    const failures: [string, RequestInit, string, boolean][] = [
      ["/v1/chat/completions", { method: "POST", headers: bearer, body: "{}" }, "invalid_request", true],
      ["/v1/images/generations", { method: "POST" }, "unauthorized", true],
      ["/v1/none", { headers: bearer }, "not_found", true],
      ["/msgcompat/v1/messages", { method: "POST", headers: { "x-api-key": "sk-sy-none" } }, "invalid_api_key", true],
      [
        "/admin/v1/accounts/none",
        { headers: { authorization: `Bearer ${adminKey}` } },
        "not_found",
        true,
      ],
      ["/v1/videos/none", { headers: bearer }, "not_found", false],
      ["/gencompat/v1beta/models/sandbox/chat-1:generateContent", { method: "POST" }, "unauthorized", false],
    ];
    for (const [path, init, code, isInBody] of failures) {
      const response = await fetch(address + path, init);
      const { error } = await response.json();
      assert(response.status >= 400, path);
      assertEquals(response.headers.get("link"), `<${help}#${code}>; rel="help"`, path);
      assertEquals(error.doc_url, isInBody ? `${help}#${code}` : undefined, path);
      assert(!error.message.includes("troubleshooting"), path);
    }
    const success = await fetch(`${address}/v1/models`);
    assertEquals([success.status, success.headers.get("link")], [200, null]);
    await success.body?.cancel();
  } finally {
    await gateway.stop();
  }
});

Deno.test("a video endpoint names the section of its more precise code", async () => {
  const gateway = await startVideoGateway();
  try {
    const response = await fetch(`${gateway.address}/v1/videos`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...VALID_BODY, callback_url: "http://192.0.2.1/" }),
    });
    assertEquals((await response.json()).error.code, "invalid_callback_url");
    assertStringIncludes(response.headers.get("link") ?? "", "/docs/troubleshooting#invalid_callback_url>");
  } finally {
    await gateway.stop();
  }
});

Deno.test("server.docs_url replaces the start of the addresses", async () => {
  const gateway = await startTestGateway({ config: { server: { port: 0, docs_url: "https://docs.example/gate/" } } });
  try {
    const { error } = await (await fetch(`${gateway.address}/v1/none`)).json();
    assertEquals(error.doc_url, "https://docs.example/gate/troubleshooting#not_found");
  } finally {
    await gateway.stop();
  }
});

Deno.test("/docs serves every page offline, with the anchors that its links and errors name", async () => {
  const gateway = await startTestGateway();
  try {
    const start = await fetch(`${gateway.address}/docs`);
    const policy = start.headers.get("content-security-policy") ?? "";
    assert(policy.includes("default-src 'none'"), policy);
    const links = [...(await start.text()).matchAll(/href="\/docs\/([\w/-]+)"/g)].map(([, name]) => name ?? "");
    assert(links.includes("api-reference"), "the API reference is linked"); // tests/openapi reads it
    const names = links.filter((name) => name !== "api-reference");
    assert(names.includes("troubleshooting") && names.includes("api/errors"), names.join());
    for (const name of new Set(names)) {
      const page = await fetch(`${gateway.address}/docs/${name}`);
      const html = await page.text();
      assertEquals([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"], name);
      assert(
        !/<(?:script|img|iframe)|src=|style=/.test(html.replaceAll(/<pre>[^]*?<\/pre>|<code>[^]*?<\/code>/g, "")),
        name,
      );
      const ids = new Set([...html.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id));
      const anchors = anchorsOf(await Deno.readTextFile(join(ROOT, `docs/${name}.md`)));
      assertEquals([...ids].sort(), [...anchors].sort(), name);
    }
    const style = await fetch(`${gateway.address}/docs/style.css`);
    assertEquals(style.headers.get("content-type"), "text/css; charset=utf-8");
    await style.body?.cancel();
    const missing = await fetch(`${gateway.address}/docs/none`);
    assertEquals([missing.status, (await missing.json()).error.code], [404, "not_found"]);
  } finally {
    await gateway.stop();
  }
});
