import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../architecture/source_files.ts";
import { balancerOf, proxyProgram, startProxy } from "./proxy_server.ts";
import { untilSo } from "../support/patience.ts";

/** Set by `deno task test:ops`, because the test installs programs. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_OPS");

/** A server that counts requests and can report that it is not ready, as a gateway that drains does. */
function startBackend(name: string) {
  const state = { isReady: true, checks: 0 };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    if (!url.endsWith("/readyz")) return new Response(name);
    state.checks++;
    return new Response("", { status: state.isReady ? 200 : 503 });
  });
  return { state, address: `127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

/**
 * Names of the backends that answer so many requests, one after the other. The requests have no body: Caddy 2.6, which
 * Debian has, closes a body with the first backend that it cannot reach.
 */
async function answersOf(port: number, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/models`);
    names.push(response.status === 200 ? await response.text() : `${response.status} ${await response.text()}`);
  }
  return names;
}

Deno.test("the balancer of several gateways uses those that are ready, and no request fails with a stopped one", {
  ignore: !isWanted,
  sanitizeOps: false,
  sanitizeResources: false,
}, async () => {
  const folder = await Deno.makeTempDir();
  const [one, two] = [startBackend("one"), startBackend("two")];
  try {
    await Deno.mkdir(join(folder, "unpacked"));
    const program = await proxyProgram("caddy", join(folder, "unpacked"));
    const balancer = await startProxy(balancerOf([one.address, two.address]), program, { folder, upstream: null });
    try {
      await untilSo(() => one.state.checks > 0 && two.state.checks > 0);
      await untilSo(async () => new Set(await answersOf(balancer.port, 20)).size === 2);
      one.state.isReady = false;
      await untilSo(async () => new Set(await answersOf(balancer.port, 20)).size === 1);
      assertEquals(new Set(await answersOf(balancer.port, 20)), new Set(["two"]));
      one.state.isReady = true;
      await untilSo(async () => (await answersOf(balancer.port, 20)).includes("one"));
      await one.stop();
      assertEquals(new Set(await answersOf(balancer.port, 40)), new Set(["two"]));
    } finally {
      await balancer.stop();
    }
  } finally {
    await two.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("compose.nodes.yaml gives the balancer this file", async () => {
  const compose = parse(await Deno.readTextFile(`${ROOT}ops/container/compose.nodes.yaml`), { merge: true });
  assertEquals(compose.services.balancer.volumes, ["../proxies/Caddyfile.nodes:/etc/caddy/Caddyfile:ro"]);
});
