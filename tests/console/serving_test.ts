import { assert, assertEquals, assertMatch } from "@std/assert";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { codingFor } from "../../src/console/assets.ts";
import { loadConsoleAssets } from "../../src/console/bundle.ts";
import { rawAnswer } from "../support/raw_http.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startVideoGateway } from "../support/video_gateway.ts";
import { ConsoleBrowser } from "./browser.ts";

const MAX_FIRST_LOAD_BYTES = 150_000;
const OWNER = "key-of-the-owner";

Deno.test("console: the first load is small", async () => {
  const { page, files, firstLoad } = await loadConsoleAssets();
  const loaded = [page, ...firstLoad.map((name) => files.get(name))];
  const sizeOf = (coding: "br" | "gzip") => loaded.reduce((sum, file) => sum + (file?.bodies[coding].length ?? 0), 0);
  for (const coding of ["br", "gzip"] as const) {
    assert(sizeOf(coding) < MAX_FIRST_LOAD_BYTES, `${sizeOf(coding)} bytes`);
  }
});

Deno.test("console: every response forbids inline scripts, frames, sniffing and referrers", async () => {
  const gateway = await startTestGateway();
  const visitor = new ConsoleBrowser(gateway.address);
  const script = /\/console\/assets\/[\w.-]+\.js/.exec((await visitor.send("GET", "/console")).text)?.[0] ?? "";
  for (const path of ["/console", "/console/requests/req_1", script, "/console/session", "/console/api/admin/v1/x"]) {
    const { headers } = await visitor.send("GET", path);
    const policy = headers.get("content-security-policy") ?? "";
    assert(policy.includes("default-src 'none'") && policy.includes("frame-ancestors 'none'"), path);
    assert(!policy.includes("unsafe") && !policy.includes("http"), path);
    assertEquals(headers.get("x-content-type-options"), "nosniff", path);
    assertEquals(headers.get("referrer-policy"), "no-referrer", path);
  }
  await gateway.stop();
});

Deno.test("console: answers of the API, files of vendors among them, are opened without an origin", async () => {
  const gateway = await startVideoGateway();
  const visitor = new ConsoleBrowser(gateway.address);
  await visitor.signIn(gateway.adminKey);
  const { mirror_urls: addresses } = await gateway.until(await gateway.create(), "completed");
  const { pathname, search } = new URL(String(Array.isArray(addresses) ? addresses[0] : ""));
  for (
    const path of [`/console/api${pathname}${search}`, "/console/api/admin/v1/accounts", "/console/api/admin/v1/x"]
  ) {
    const { headers, status } = await visitor.send("GET", path);
    const expected = path.endsWith("/x") ? 404 : 200;
    assertEquals([path, status], [path, expected]);
    assertMatch(headers.get("content-security-policy") ?? "", /^sandbox;/, path);
  }
  const { headers } = await visitor.send("GET", "/console");
  assert(!headers.get("content-security-policy")?.includes("sandbox"));
  await gateway.stop();
});

Deno.test("console: the page has no inline script, no data and no address of another host", async () => {
  const gateway = await startTestGateway();
  const { text, headers } = await new ConsoleBrowser(gateway.address).send("GET", "/console/accounts/demo");
  assertEquals(headers.get("cache-control"), "no-cache");
  assert(!/<script(?![^>]* src=)|<style| on\w+=|demo/.test(text));
  assertEquals(text.match(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/g), null);
  await gateway.stop();
});

Deno.test("console: files have names by their content, and browsers keep them", async () => {
  const gateway = await startTestGateway();
  const visitor = new ConsoleBrowser(gateway.address);
  const page = await visitor.send("GET", "/console");
  const paths = [...page.text.matchAll(/\/console\/assets\/console-[0-9a-f]{16}\.(?:js|css)/g)].map(([path]) => path);
  assertEquals(paths.length, 2);
  for (const path of [...paths, "/console"]) {
    const { headers } = await visitor.send("GET", path);
    if (path !== "/console") assertEquals(headers.get("cache-control"), "public, max-age=31536000, immutable");
    const etag = headers.get("etag") ?? "";
    const again = await visitor.send("GET", path, { headers: { "if-none-match": etag } });
    assertEquals([again.status, again.text], [304, ""]);
  }
  assertEquals((await visitor.send("GET", "/console/assets/console-0000000000000000.js")).status, 404);
  await gateway.stop();
});

Deno.test("console: files are sent in the smallest form that the browser accepts", async () => {
  const { files } = await loadConsoleAssets();
  for (const { bodies } of files.values()) {
    assertEquals(new Uint8Array(brotliDecompressSync(bodies.br)), bodies.identity);
    assertEquals(new Uint8Array(gunzipSync(bodies.gzip)), bodies.identity);
    assert(bodies.br.length < bodies.gzip.length && bodies.gzip.length < bodies.identity.length);
  }
  assertEquals(codingFor(null), "identity");
  assertEquals(codingFor("gzip, deflate, br, zstd"), "br");
  assertEquals(codingFor("gzip;q=0.5"), "gzip");
  assertEquals(codingFor("br;q=0, gzip"), "gzip");
  assertEquals(codingFor("br;q=0.0, gzip;q=0"), "identity");
  const gateway = await startTestGateway();
  const { port } = new URL(gateway.address);
  const request =
    `GET /console HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n`;
  const { headers } = await rawAnswer(Number(port), request);
  assertEquals(headers.get("content-encoding"), "br");
  await gateway.stop();
});

Deno.test("console: it is off without an admin key, and on or off as `console` sets it", async () => {
  const statusWith = async (config: Record<string, unknown>) => {
    const gateway = await startTestGateway({ config });
    const visitor = new ConsoleBrowser(gateway.address);
    const { status } = await visitor.send("GET", "/console");
    const signedIn = status === 200 ? (await visitor.signIn(gateway.key)).status : null;
    const link = await gateway.app.createConsoleLink();
    await gateway.stop();
    return [status, signedIn, link === null];
  };
  const server = { port: 0, shutdown_grace: 1 };
  assertEquals(await statusWith({ server }), [404, null, true]);
  assertEquals(await statusWith({ server, console: true }), [200, 201, true]);
  assertEquals(await statusWith({ server: { ...server, admin_key: OWNER } }), [200, 201, false]);
  assertEquals(await statusWith({ server: { ...server, admin_key: OWNER }, console: false }), [404, null, true]);
});

Deno.test("console: it is at the address of the admin API alone", async () => {
  const server = { port: 0, admin_key: OWNER, admin_listen: "127.0.0.1:0", shutdown_grace: 1 };
  const gateway = await startTestGateway({ config: { server } });
  const { address, adminAddress } = gateway.app;
  assertEquals((await new ConsoleBrowser(address).send("GET", "/console")).status, 404);
  const visitor = new ConsoleBrowser(adminAddress);
  assertEquals((await visitor.signIn(gateway.key)).json.session.account, "demo");
  assertEquals((await visitor.send("GET", "/console/api/v1/credits")).status, 200);
  assert((await gateway.app.createConsoleLink())?.startsWith(adminAddress));
  await gateway.stop();
});

Deno.test("console: reads of an open page are not counted as requests, and failures are", async () => {
  const gateway = await startTestGateway();
  const visitor = new ConsoleBrowser(gateway.address);
  await visitor.signIn(gateway.adminKey);
  const traffic = async () => (await visitor.send("GET", "/console/api/admin/v1/traffic")).json.total;
  const before = await traffic();
  for (const path of ["/console", "/console/session", "/console/api/admin/v1/accounts"]) {
    await visitor.send("GET", path);
  }
  assertEquals((await traffic()).requests, before.requests);
  await visitor.send("GET", "/console/api/admin/v1/accounts/nobody");
  const after = await traffic();
  assertEquals([after.requests, after.errors.not_found], [before.requests + 1, 1]);
  await gateway.stop();
});

Deno.test("console: it is served and signed in to through isolates, also over plain HTTP", async () => {
  const gateway = await startTestGateway({ isolates: 2 });
  const visitor = new ConsoleBrowser(gateway.address);
  const page = await visitor.send("GET", "/console");
  for (const [path] of page.text.matchAll(/\/console\/assets\/[\w.-]+/g)) {
    const file = await visitor.send("GET", path);
    assertEquals([file.status, file.text.length > 1_000], [200, true]);
  }
  const plainHttp = { headers: { "sec-fetch-site": null } };
  const signedIn = await visitor.send("POST", "/console/session", { body: { key: gateway.adminKey }, ...plainHttp });
  assertEquals(signedIn.status, 201);
  assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts", plainHttp)).status, 200);
  const other = { headers: { "sec-fetch-site": null, origin: "http://127.0.0.1:1" } };
  assertEquals((await visitor.send("GET", "/console/api/admin/v1/accounts", other)).status, 403);
  await gateway.stop();
});
