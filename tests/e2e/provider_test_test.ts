import { assert, assertEquals, assertMatch } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { testConfiguredProvider } from "../../src/entry/app/operators/provider_test.ts";
import { readConfig } from "../../src/config/config.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { startTestGateway } from "../support/gateway.ts";
import { closedOrigin } from "../support/video_gateway.ts";

const SECRET = "bad-key-that-nobody-may-see";

/** Tests a provider without a gateway. */
async function testOf(provider: Readonly<Record<string, unknown>>, credential: string | null = null) {
  const tree = { store: "kv::memory:", providers: { acme: provider }, models: [] };
  const config = readConfig(JSON.stringify(tree), "test.json", () => undefined);
  return await testConfiguredProvider(config, systemClock, "acme", credential);
}

async function messageOf(provider: Readonly<Record<string, unknown>>): Promise<string> {
  const [result] = await testOf(provider);
  assert(result !== undefined && !result.isOk);
  assert(!result.message.includes(SECRET), result.message);
  return result.message;
}

Deno.test("a test of a provider names what is wrong with its vendor's answer, and what to change", async () => {
  let answer: () => Response = () => new Response(null);
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => answer());
  const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
  const provider = { kind: "openai", base_url: baseUrl, api_key: SECRET };
  const error = (status: number, message: string, code: string | null = null) => () =>
    Response.json({ error: { message, code, type: "x", param: null } }, { status });
  for (
    const [given, expected] of [
      [
        error(401, `Incorrect API key provided: ${SECRET}`),
        /^The vendor rejects the key \(status 401: .*check api_key/,
      ],
      [error(403, "You lack a permission"), /^The vendor forbids the request \(status 403: You lack a permission\)/],
      [error(403, "Country, region, or territory not supported"), /^The vendor does not serve this region/],
      [error(404, "Not found"), /^The address has no such vendor API .*it looks like "https:\/\/api\.openai\.com\/v1"/],
      [error(429, "Slow down"), /^The vendor's rate limit is exceeded .*the key works/],
      [error(429, "No quota", "insufficient_quota"), /no balance or quota left .*check its billing/],
      [error(402, "Pay"), /no balance or quota left/],
      [error(500, "Oops"), /^The vendor fails at the moment \(status 500: Oops\): try again later/],
      [() => new Response("<html>Hello</html>", { headers: { "content-type": "text/html" } }), /not that of a vendor/],
      [() => new Response(null, { status: 302, headers: { location: "/login" } }), /redirects to another address/],
      [() => new Response("<html>No</html>", { status: 404 }), /^The address has no such vendor API/],
    ] as const
  ) {
    answer = given;
    assertMatch(await messageOf(provider), expected);
  }
  answer = () => Response.json({ object: "list", data: [{ id: "one" }, { id: "two" }] });
  const [fine] = await testOf(provider);
  assert(fine !== undefined && fine.latencyMs !== null && fine.latencyMs >= 0);
  assertEquals({ ...fine, latencyMs: 0 }, {
    credential: null,
    isOk: true,
    message: "The vendor accepts the credential and lists 2 models",
    latencyMs: 0,
    models: 2,
  });
  await server.shutdown();
});

Deno.test("a test of a provider tells apart why there is no answer", async () => {
  const refused = await messageOf({ kind: "openai", base_url: `${closedOrigin()}/v1`, api_key: SECRET });
  assertMatch(refused, /^http:\/\/127\.0\.0\.1:\d+ refuses the connection: check the port of base_url/);
  const plain = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Response("x"));
  const tls = await messageOf({
    kind: "openai",
    base_url: `https://127.0.0.1:${plain.addr.port}/v1`,
    api_key: SECRET,
    timeouts: { connect: 2 },
  });
  assertMatch(tls, /^The TLS connection to https:\/\/127\.0\.0\.1:\d+ fails: check http or https in base_url/);
  await plain.shutdown();
  const silent = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const slow = await messageOf({
    kind: "openai",
    base_url: `http://127.0.0.1:${silent.addr.port}/v1`,
    api_key: SECRET,
    timeouts: { first_byte: 0.05 },
  });
  assertMatch(slow, /does not respond in time: check base_url, proxies and firewalls, and timeouts$/);
  silent.close();
});

Deno.test("a test accepts each simulated vendor's key, and recognizes a wrong one", async () => {
  const sandbox = await startSandbox({ port: 0 });
  const { openai, anthropic, google, ark, fal, replicate, runway } = sandbox.baseUrls;
  for (
    const [kind, base_url] of Object.entries({ openai, anthropic, google, ark, fal, replicate, runway })
  ) {
    const [fine] = await testOf({ kind, base_url, api_key: `sandbox-key-${kind}` });
    assertEquals(fine?.isOk, true, `${kind}: ${fine?.message}`);
    assertMatch(await messageOf({ kind, base_url, api_key: SECRET }), /^The vendor rejects the key/, kind);
  }
  await sandbox.stop();
});

Deno.test("POST /admin/v1/providers/{name}/test tests each credential, or the named one", async () => {
  const sandbox = await startSandbox({ port: 0 });
  const credentials = [{ name: "old", api_key: SECRET }, { name: "new", api_key: "sandbox-key-openai" }];
  const gateway = await startTestGateway({
    config: {
      providers: { acme: { kind: "openai", base_url: sandbox.baseUrls.openai, credentials } },
      models: [],
    },
  });
  const test = async (name: string, body?: unknown) => {
    const response = await fetch(`${gateway.address}/admin/v1/providers/${name}/test`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  };
  const both = await test("acme");
  assertEquals([both.status, both.json.ok], [200, false]);
  assertEquals(both.json.data.map((each: Record<string, unknown>) => [each.credential, each.ok]), [
    ["old", false],
    ["new", true],
  ]);
  const { json: { ok, data } } = await test("acme", { credential: "new" });
  assertEquals([ok, data.length], [true, 1]);
  for (const [name, body] of [["other", {}], ["acme", { credential: "third" }]] as const) {
    const { status, json } = await test(name, body);
    assertEquals([status, json.error.code], [404, "not_found"]);
  }
  assertEquals((await test("acme", { credentials: "new" })).status, 400);
  await gateway.stop();
  await sandbox.stop();
});
