import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Finding } from "../../src/entry/doctor/finding.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { startStubVendor } from "../images/stub_vendor.ts";
import { makePlace } from "../cli/gateway_folder.ts";

Deno.test("doctor says what works and what to do, and ends with 1 if there is a problem", async () => {
  const sandbox = await startSandbox({ port: 0 });
  await using vendor = startStubVendor(() =>
    Promise.resolve(
      Response.json({ type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } }, {
        status: 401,
      }),
    )
  );
  const place = await makePlace();
  try {
    const config = JSON.parse(await Deno.readTextFile(place.path));
    config.providers = {
      good: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "sandbox-key-openai" },
      wrong: { kind: "anthropic", base_url: vendor.address, api_key: "not-the-key-of-the-vendor" },
      away: { kind: "openai", base_url: `${closedOrigin()}/v1`, api_key: "some-key-of-the-vendor" },
    };
    config.models = [{ id: "a/b", pricing: "free", serves: [{ provider: "good", model: "no-such-model" }] }];
    await Deno.writeTextFile(place.path, JSON.stringify(config));
    const { code, said } = await place.run("doctor", "--config", place.path);
    assertEquals(code, 1);
    for (
      const part of [
        "ok       configuration:",
        "ok       store:",
        "ok       request log:",
        "does not exist yet; the start creates it",
        "ok       provider good: the vendor accepts the credential, and lists",
        "problem  provider wrong:",
        "→ check api_key and headers, and that the key belongs to this vendor",
        "problem  host of away:",
        "warning  models: vendors no longer list a/b (no-such-model at good)",
      ]
    ) assertStringIncludes(said, part);
    assertEquals(said.includes("not-the-key-of-the-vendor"), false);
    assertMatch(said, /ok {7}clock: within 5 s/);
    assertEquals(await Deno.stat(place.store).then(() => true, () => false), false, "nothing was created");

    const offline = await place.run("doctor", "--config", place.path, "--offline", "--json");
    assertEquals(offline.code, 0);
    const findings = JSON.parse(offline.said) as { check: string; level: string }[];
    assertEquals(findings.filter(({ check }) => check.startsWith("provider")), []);
  } finally {
    await place.remove();
    await sandbox.stop();
  }
});

/** Runs doctor as a process in a folder. */
async function runDoctor(folder: string, ...options: string[]): Promise<{ code: number; said: string }> {
  const doctor = startGatewayProcess({ args: ["doctor", ...options], folder });
  const { code } = await doctor.ended;
  return { code, said: doctor.output() };
}

Deno.test("doctor finds nothing to mend at a gateway with its own simulated vendors", async () => {
  const folder = await Deno.makeTempDir();
  const dev = startGatewayProcess({ args: ["dev"], folder, env: { PORT: "0" } });
  try {
    const [, address = ""] = await dev.until(/is ready at (\S+)/);
    for (const options of [[], ["--offline"]]) {
      const { code, said } = await runDoctor(folder, "--json", ...options);
      const findings = JSON.parse(said) as Finding[];
      // The limit of open files and the disk are those of the machine, not of the vendors.
      const faults = findings.filter(({ level, check }) =>
        level !== "ok" && check !== "descriptors" && check !== "disk"
      );
      assertEquals([code, faults], [0, []]);
      const textOf = (name: string) => findings.find(({ check }) => check === name)?.text;
      assertEquals(textOf("store"), `in use by the gateway at ${address}, which is ready`);
      assertStringIncludes(textOf("configuration") ?? "", 'that of "dev"');
      assertMatch(textOf("admin API") ?? "", /^on, with 1 account and \d+ models/);
    }
    // A configuration in the same folder is the one that is checked.
    await Deno.writeTextFile(`${folder}/switchyard.json`, '{"server": {"port": 1}}');
    const own = await runDoctor(folder, "--config", "switchyard.json");
    assertEquals(own.code, 1);
    assertStringIncludes(own.said, "there are no models");
    assertStringIncludes(own.said, "does not exist yet; the start creates it");
  } finally {
    dev.kill("SIGTERM");
    await dev.ended;
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("doctor finds a running gateway, and names the problems of a broken configuration", async () => {
  const place = await makePlace();
  try {
    const running = await place.serve();
    try {
      const { said } = await place.run("doctor", "--config", place.path, "--offline");
      assertStringIncludes(said, `ok       store: in use by the gateway at ${running.address}, which is ready`);
    } finally {
      await running.stop();
    }
    await Deno.writeTextFile(place.path, '{"server": {"prot": 1}}');
    const { code, said } = await place.run("doctor", "--config", place.path, "--offline");
    assertEquals(code, 1);
    assertMatch(said, /problem {2}configuration: .*server\.prot.*\n {9}→ correct it/);
  } finally {
    await place.remove();
  }
});

Deno.test("doctor shows what a running gateway answers that is not ready", async () => {
  let status = 503;
  const gateway = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const isReadiness = new URL(url).pathname === "/readyz";
    return isReadiness
      ? new Response("not ready: the disk is full\n", { status })
      : Response.json({ service: "switchyard" });
  });
  const place = await makePlace({ port: gateway.addr.port });
  try {
    const { code, said } = await place.run("doctor", "--offline");
    const address = `http://127.0.0.1:${gateway.addr.port}`;
    assertEquals(code, 1);
    assertStringIncludes(said, `problem  store: the gateway at ${address} is not ready: the disk is full\n`);
    assertStringIncludes(said, "→ look at its log");
    status = 200;
    const ready = await place.run("doctor", "--offline");
    assertStringIncludes(ready.said, `ok       store: in use by the gateway at ${address}, which is ready`);
  } finally {
    await gateway.shutdown();
    await place.remove();
  }
});

Deno.test("doctor says that no models are built in for the providers, and what to add", async () => {
  const place = await makePlace();
  try {
    const providers = { fast: { kind: "cerebras", api_key: "key-of-a-vendor" } };
    await Deno.writeTextFile(place.path, JSON.stringify({ providers, models: [] }));
    const { code, said } = await place.run("doctor", "--config", place.path, "--offline");
    assertEquals(code, 1);
    assertStringIncludes(said, "problem  catalog: there are no models: none are built in for fast");
  } finally {
    await place.remove();
  }
});
