import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { textModel } from "../support/gateway.ts";
import { atLeast } from "../support/items.ts";
import { longTest } from "../support/long_test.ts";
import { untilSo } from "../support/patience.ts";

const ADMIN_KEY = "an-admin-key-of-the-test";
const ENV = { SWITCHYARD_ADMIN_KEY: ADMIN_KEY, PORT: "0" };
const PROVIDER = { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "vendor-key" };

/** Runs `serve` in a folder with a file of one provider and one model. */
async function withServe(
  run: (parts: { folder: string; start(): Promise<{ process: GatewayProcess; address: string }> }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const running = new Set<GatewayProcess>();
  await writeConfig(folder, "0.000001");
  try {
    await run({
      folder,
      async start() {
        const process = startGatewayProcess({ args: ["serve"], folder, env: ENV });
        running.add(process);
        void process.ended.then(() => running.delete(process));
        const [, address] = atLeast(await process.until(/ready at (http:\S+)/), 2);
        return { process, address };
      },
    });
  } finally {
    for (const process of running) process.kill("SIGKILL");
    await Promise.all([...running].map(({ ended }) => ended));
    await Deno.remove(folder, { recursive: true });
  }
}

async function writeConfig(folder: string, prompt: string, sections: Record<string, unknown> = {}): Promise<void> {
  const model = { ...textModel("acme/one", ["acme"]), pricing: { prompt, completion: "0.000002" } };
  await Deno.writeTextFile(
    `${folder}/switchyard.yaml`,
    JSON.stringify({ providers: { acme: PROVIDER }, models: [model], ...sections }),
  );
}

async function admin(address: string, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  return await (await fetch(`${address}/admin/v1${path}`, init)).json();
}

async function priceOf(address: string): Promise<string> {
  const { settings } = await admin(address, "GET", "/config");
  return settings.models["acme/one"].value.pricing.prompt;
}

Deno.test("SIGHUP and config apply put the file in force; config diff changes nothing; a broken file is refused", async () => {
  await withServe(async ({ folder, start }) => {
    const { process, address } = await start();
    const command = async (...args: string[]) => {
      const ran = startGatewayProcess({ args: ["config", ...args], folder, env: ENV });
      return { code: (await ran.ended).code, output: ran.output(), errors: ran.log() };
    };
    await writeConfig(folder, "0.000005", { server: { docs_url: "https://docs.example.com" } });
    process.kill("SIGHUP");
    await untilSo(() => process.log().includes("config_changed"));
    const line = process.log().split("\n").find((each) => each.includes("config_changed")) ?? "";
    assertStringIncludes(
      line,
      "0 added, 1 changed, 0 removed, 1 need a restart; prices: acme/one pricing.prompt 0.000001 to 0.000005; " +
        "restart for: server.docs_url, by SIGHUP",
    );
    assertEquals(await priceOf(address), "0.000005");
    const { data } = await admin(address, "GET", "/audit?actor=configuration");
    assertEquals([data[0].method, data[0].path, data[0].after.changed], [
      "SIGHUP",
      "config",
      { models: { "acme/one": { "pricing.prompt": { before: "0.000001", after: "0.000005" } } } },
    ]);

    await writeConfig(folder, "0.000007");
    const diff = await command("diff", "switchyard.yaml");
    assertEquals(diff.output.trim(), "acme/one: prompt 5.00 → 7.00 USD per million.");
    const json = await command("diff", "switchyard.yaml", "--json");
    assertStringIncludes(json.output, '"after": "0.000007"');
    assertEquals(await priceOf(address), "0.000005");
    assertEquals((await command("apply", "switchyard.yaml")).code, 0);
    assertEquals(await priceOf(address), "0.000007");

    await Deno.writeTextFile(`${folder}/more.yaml`, JSON.stringify({ aliases: { quick: "acme/one" } }));
    const more = await command("apply", "more.yaml", "--json");
    assertEquals([more.code, JSON.parse(more.output).version], [0, 1]);
    const shown = await command("show");
    assertStringIncludes(shown.output, '"owner": "store version 1"');
    assertEquals(shown.output.includes("vendor-key"), false);

    await Deno.writeTextFile(`${folder}/switchyard.yaml`, "providers: { acme: { kind: nonsense } }");
    const broken = await command("apply", "switchyard.yaml");
    assertEquals(broken.code, 2);
    assertStringIncludes(broken.errors, "switchyard.yaml: providers.acme.kind: expected");
    assertEquals(await priceOf(address), "0.000007");
  });
});

longTest("kill -9 during changes of the stored settings leaves all of a change or nothing of it", async () => {
  await withServe(async ({ start }) => {
    for (let round = 0; round < 3; round++) {
      const { process, address } = await start();
      let answered = 0;
      const changes = (async () => {
        for (let turn = 1;; turn++) {
          const names = [`a${turn}`, `b${turn}`];
          const providers = Object.fromEntries(names.map((name) => [name, PROVIDER]));
          const models = names.map((name) => textModel(`${name}/model`, [name]));
          answered = (await admin(address, "PUT", "/config", { providers, models })).version;
        }
      })().catch(() => {});
      await untilSo(() => answered >= 5 * (round + 1));
      process.kill("SIGKILL");
      await Promise.all([process.ended, changes]);

      const again = await start();
      const { version, settings } = await admin(again.address, "GET", "/config");
      assert(version === answered || version === answered + 1, `${version} after ${answered}`);
      const stored = Object.keys(settings.providers).filter((name) => name !== "acme").toSorted();
      const [first = "", second = ""] = stored;
      assertEquals([stored.length, first.slice(1), first[0], second[0]], [2, second.slice(1), "a", "b"]);
      assertEquals(
        Object.keys(settings.models).toSorted(),
        [`${first}/model`, "acme/one", `${second}/model`].toSorted(),
      );
      again.process.kill("SIGKILL");
      await again.process.ended;
    }
  });
});
