import { assert, assertEquals, assertRejects } from "@std/assert";
import { readCidr } from "../../src/platform/net/address.ts";
import { download, DownloadRefused, openDownload } from "../../src/platform/net/download.ts";
import { EgressError } from "../../src/platform/net/egress_error.ts";
import { guardedFetch, type GuardedRequest } from "../../src/platform/net/guarded_fetch.ts";
import type { EgressPolicy } from "../../src/platform/net/target.ts";
import { TEST_CERTIFICATE, TEST_KEY, TEST_ROOT } from "../support/test_certificates.ts";
import { ROOT } from "../webhooks/certificates.ts";
import { respondKeepAlive, startReceiver } from "../webhooks/receiver.ts";

const loopback: EgressPolicy = {
  allow: [readCidr("127.0.0.1/32"), readCidr("::1/128")],
  own: [],
  resolve: () => Promise.resolve(["127.0.0.1"]),
  caCertificates: [TEST_ROOT],
};
const get: GuardedRequest = { method: "GET", schemes: ["https:", "http:"], maxBytes: 1000, timeoutMs: 10_000 };

/** A server for one test, closed at its end. */
function serverOf(
  handler: (request: Request) => Response | Promise<Response>,
  options: Partial<Deno.TcpListenOptions & Deno.TlsCertifiedKeyPem> = {},
) {
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
    onError: () => new Response(null),
    ...options,
  }, handler);
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text;
}

async function failureOf(work: Promise<{ body: AsyncIterable<Uint8Array> }>): Promise<string> {
  const error = await assertRejects(async () => void await textOf((await work).body), EgressError);
  return error.details.rule ?? error.kind;
}

Deno.test("guardedFetch() posts to the checked address with the requested host name", async () => {
  await using server = serverOf(async (request) =>
    Response.json({
      method: request.method,
      host: request.headers.get("host"),
      body: await request.text(),
      coding: request.headers.get("accept-encoding"),
      own: request.headers.get("x-own"),
    })
  );
  const names: string[] = [];
  const resolve = (name: string) => {
    names.push(name);
    return Promise.resolve(["127.0.0.1"]);
  };
  const request: GuardedRequest = {
    ...get,
    method: "POST",
    headers: { "x-own": "1" },
    body: new TextEncoder().encode("hello"),
  };
  const response = await guardedFetch(`http://receiver.example:${server.port}/hook`, request, { ...loopback, resolve });
  assertEquals(response.status, 200);
  assertEquals(JSON.parse(await textOf(response.body)), {
    method: "POST",
    host: `receiver.example:${server.port}`,
    body: "hello",
    coding: "identity",
    own: "1",
  });
  assertEquals(names, ["receiver.example"]);
});

Deno.test("guardedFetch() checks the certificate against the host name, under the default roots and the operator's", async () => {
  await using server = serverOf(() => new Response("ok"), { cert: TEST_CERTIFICATE, key: TEST_KEY });
  const fetchFrom = (host: string, policy: EgressPolicy) =>
    guardedFetch(`https://${host}:${server.port}/`, get, policy);
  assertEquals(await textOf((await fetchFrom("receiver.example", loopback)).body), "ok");
  assertEquals(await failureOf(fetchFrom("other.example", loopback)), "tls");
  assertEquals(await failureOf(fetchFrom("127.0.0.1", loopback)), "tls");
  assertEquals(await failureOf(fetchFrom("receiver.example", { ...loopback, caCertificates: [] })), "tls");
});

Deno.test("guardedFetch() tries the default roots over a new connection when the operator's roots reject a certificate", async () => {
  const receiver = startReceiver(respondKeepAlive(200));
  const fetchFrom = (host: string, root: string) =>
    failureOf(guardedFetch(`https://${host}:${receiver.port}/`, get, { ...loopback, caCertificates: [root] }));
  assertEquals([await fetchFrom("receiver.example", TEST_ROOT), receiver.connections], ["tls", 2]);
  assertEquals(
    [await fetchFrom("other.example", ROOT), receiver.connections],
    ["tls", 3],
    "a wrong name is wrong under any root",
  );
  assertEquals(receiver.received, []);
  await receiver.stop();
});

Deno.test("guardedFetch() never connects to a forbidden address, whenever the name starts to resolve to it", async () => {
  let connections = 0;
  await using server = serverOf(() => {
    connections++;
    return new Response("ok");
  });
  const address = `http://rebinding.example:${server.port}/`;
  const answers = [["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34", "127.0.0.1"]];
  for (const answer of answers.slice(1)) {
    const policy = { ...loopback, allow: [], resolve: () => Promise.resolve(answer) };
    assertEquals(await failureOf(guardedFetch(address, get, policy)), "private_address");
  }
  for (const host of ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost"]) {
    const rule = await failureOf(guardedFetch(`http://${host}:${server.port}/`, get, { ...loopback, allow: [] }));
    assert(rule === "private_address" || rule === "local_name");
  }
  const own = { ...loopback, own: [{ host: "127.0.0.1", port: server.port }] };
  assertEquals(await failureOf(guardedFetch(address, get, own)), "own_address");
  assertEquals(connections, 0);
});

Deno.test("guardedFetch() returns a redirect when it follows none", async () => {
  await using server = serverOf(() =>
    new Response("moved", { status: 307, headers: { location: "http://169.254.169.254/" } })
  );
  const response = await guardedFetch(`http://receiver.example:${server.port}/`, get, loopback);
  assertEquals([response.status, response.header("location")], [307, "http://169.254.169.254/"]);
  response.discard();
});

Deno.test("guardedFetch() checks every redirect like the first address", async () => {
  const seen: string[] = [];
  await using server = serverOf((request) => {
    const { pathname, searchParams } = new URL(request.url);
    seen.push(
      `${request.method} ${pathname} ${request.headers.get("host")?.split(":")[0]} ${request.headers.get("x-own")}`,
    );
    const to = searchParams.get("to");
    return to === null ? new Response("end") : new Response(null, { status: 302, headers: { location: to } });
  });
  const fetchFrom = (to: string, redirects = 3) =>
    guardedFetch(`http://a.example:${server.port}/?to=${encodeURIComponent(to)}`, {
      ...get,
      redirects,
      headers: { "x-own": "1" },
    }, loopback);
  assertEquals(await textOf((await fetchFrom(`http://b.example:${server.port}/b`)).body), "end");
  assertEquals(await textOf((await fetchFrom("/same")).body), "end");
  assertEquals(seen, [
    "GET / a.example 1",
    "GET /b b.example null",
    "GET / a.example 1",
    "GET /same a.example 1",
  ]);
  assertEquals(await failureOf(fetchFrom("http://169.254.169.254/latest/meta-data")), "private_address");
  assertEquals(await failureOf(fetchFrom("http://user@b.example/")), "userinfo");
  assertEquals(await failureOf(fetchFrom("ftp://b.example/")), "scheme");
  assertEquals(await failureOf(fetchFrom("http://[")), "redirect");
  assertEquals(await failureOf(fetchFrom("/b", 0)), "redirect");
});

Deno.test("guardedFetch() follows at most three redirects, and none from https to http", async () => {
  let hops = 0;
  await using plain = serverOf((request) => {
    const left = Number(new URL(request.url).pathname.slice(1));
    hops++;
    return left === 0
      ? new Response("end")
      : new Response(null, { status: 301, headers: { location: `/${left - 1}` } });
  });
  const fetchFrom = (left: number) =>
    guardedFetch(`http://a.example:${plain.port}/${left}`, { ...get, redirects: 3 }, loopback);
  assertEquals(await textOf((await fetchFrom(3)).body), "end");
  hops = 0;
  assertEquals([await failureOf(fetchFrom(9)), hops], ["redirect", 4]);

  await using secure = serverOf(
    () => new Response(null, { status: 302, headers: { location: `http://a.example:${plain.port}/0` } }),
    { cert: TEST_CERTIFICATE, key: TEST_KEY },
  );
  hops = 0;
  const down = guardedFetch(`https://receiver.example:${secure.port}/`, { ...get, redirects: 3 }, loopback);
  assertEquals([await failureOf(down), hops], ["redirect", 0]);
});

Deno.test("guardedFetch() stops at the size limit, with and without a Content-Length", async () => {
  let sent = 0;
  await using server = serverOf((request) => {
    if (request.url.endsWith("/announced")) return new Response(new Uint8Array(1001));
    return new Response(
      new ReadableStream({
        pull(controller) {
          sent += 100;
          controller.enqueue(new Uint8Array(100));
        },
      }),
    );
  });
  const fetchFrom = (path: string) => guardedFetch(`http://a.example:${server.port}${path}`, get, loopback);
  assertEquals(await failureOf(fetchFrom("/announced")), "too_large");
  assertEquals(await failureOf(fetchFrom("/endless")), "too_large");
  assert(sent > 1000);
});

Deno.test("guardedFetch() distinguishes a refused connection, a broken one and a coded response", async () => {
  const free = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = free.addr;
  free.close();
  assertEquals(await failureOf(guardedFetch(`http://a.example:${port}/`, get, loopback)), "connect");

  const closingListener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for (const answer of ["", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"]) {
      const connection = await closingListener.accept();
      await connection.read(new Uint8Array(1000));
      await connection.write(new TextEncoder().encode(answer));
      connection.close();
    }
  })();
  for (let count = 0; count < 3; count++) {
    assertEquals(
      await failureOf(guardedFetch(`http://a.example:${closingListener.addr.port}/`, get, loopback)),
      "broken",
    );
  }
  await serving;
  closingListener.close();

  await using coded = serverOf(() => new Response("x", { headers: { "content-encoding": "gzip" } }));
  assertEquals(await failureOf(guardedFetch(`http://a.example:${coded.port}/`, get, loopback)), "broken");
});

Deno.test("guardedFetch() tries the next address of a name when one refuses the connection", async () => {
  await using server = serverOf(() => new Response("ok"));
  const policy = {
    ...loopback,
    resolve: () => Promise.resolve(["::1", "127.0.0.1"]),
  };
  const response = await guardedFetch(`http://a.example:${server.port}/`, get, policy);
  assertEquals(await textOf(response.body), "ok");
});

Deno.test("guardedFetch() ignores the proxy variables", async () => {
  await using server = serverOf(() => new Response("direct"));
  const child = `
    import { readCidr } from ${JSON.stringify(new URL("../../src/platform/net/address.ts", import.meta.url).href)};
    import { guardedFetch } from ${
    JSON.stringify(new URL("../../src/platform/net/guarded_fetch.ts", import.meta.url).href)
  };
    const policy = { allow: [readCidr("127.0.0.1")], own: [], resolve: () => Promise.resolve(["127.0.0.1"]) };
    const request = { method: "GET", schemes: ["http:"], capBytes: 100, timeoutMs: 10_000 };
    const { body } = await guardedFetch("http://a.example:${server.port}/", request, policy);
    for await (const chunk of body) await Deno.stdout.write(chunk);
  `;
  const proxy = "http://127.0.0.1:1";
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", child],
    env: { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: "", no_proxy: "" },
  }).output();
  assertEquals(new TextDecoder().decode(stdout), "direct", new TextDecoder().decode(stderr));
});

Deno.test("guardedFetch() aborts a slow connection, response or body, and on its signal", async () => {
  const { promise: never, resolve: release } = Promise.withResolvers<void>();
  await using server = serverOf(async (request) => {
    if (request.url.endsWith("/silent")) await never;
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(1)),
        pull: () => never,
      }),
    );
  });
  const fetchFrom = (path: string, request: Partial<GuardedRequest>) =>
    guardedFetch(`http://a.example:${server.port}${path}`, { ...get, ...request }, loopback);
  assertEquals(await failureOf(fetchFrom("/silent", { timeoutMs: 20 })), "timeout");
  assertEquals(await failureOf(fetchFrom("/dripping", { timeoutMs: 50 })), "timeout");
  assertEquals(await failureOf(fetchFrom("/silent", { signal: AbortSignal.abort() })), "aborted");
  const controller = new AbortController();
  const dripping = await fetchFrom("/dripping", { signal: controller.signal });
  controller.abort();
  assertEquals(await failureOf(Promise.resolve(dripping)), "aborted");

  // A listener that never completes a TLS handshake.
  const silentListener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = silentListener.accept();
  const address = `https://receiver.example:${silentListener.addr.port}/`;
  assertEquals(await failureOf(guardedFetch(address, { ...get, connectMs: 20 }, loopback)), "connect");
  (await accepted).close();
  silentListener.close();
  release();
});

Deno.test("download() returns the file and its media type, and rejects every status but 200", async () => {
  await using server = serverOf((request) =>
    request.url.endsWith("/none")
      ? new Response("no", { status: 404 })
      : new Response(new Uint8Array([1, 2, 3]), { headers: { "content-type": "Image/PNG; charset=x" } })
  );
  const address = `http://files.example:${server.port}`;
  const { bytes, mediaType } = await download(`${address}/a.png`, { maxBytes: 3 }, loopback);
  assertEquals([[...bytes], mediaType], [[1, 2, 3], "image/png"]);
  const tooLarge = await assertRejects(() => download(`${address}/a.png`, { maxBytes: 2 }, loopback), EgressError);
  assertEquals(tooLarge.kind, "too_large");
  const refused = await assertRejects(() => download(`${address}/none`, { maxBytes: 9 }, loopback), DownloadRefused);
  assertEquals(refused.status, 404);
  const stream = await openDownload(`${address}/a.png`, { maxBytes: 3 }, loopback);
  assertEquals([stream.length, stream.mediaType], [3, "image/png"]);
  stream.discard();
});

Deno.test("a mistake of the gateway is not reported as a failure of the server", async () => {
  await using server = serverOf(() => new Response("served"));
  const headers = {
    get "x-key"(): string {
      throw new TypeError("a mistake");
    },
  };
  const resolve = () => Promise.reject(new TypeError("a mistake"));
  const address = `http://a.example:${server.port}/`;
  await assertRejects(() => guardedFetch(address, { ...get, headers }, loopback), TypeError, "a mistake");
  await assertRejects(() => guardedFetch(address, get, { ...loopback, resolve }), TypeError, "a mistake");
});
