import { assertEquals, assertStringIncludes } from "@std/assert";
import { addStoredVersion } from "../../src/config/diff/stored_config.ts";
import { PRICING, textModel } from "../support/gateway.ts";
import { type LiveTestGateway, startLiveGateway } from "../support/live_gateway.ts";
import { provider, RELOAD, startVendor, withGateway } from "./changed_gateway.ts";

interface AuditedEntry {
  readonly actor: string;
  readonly method: string;
  readonly path: string;
  readonly state: string;
  readonly after: Readonly<Record<string, unknown>>;
}

/** The entries about the configuration as a whole, newest first. */
async function entriesOf(gateway: LiveTestGateway): Promise<AuditedEntry[]> {
  const { data } = (await gateway.admin("GET", "/audit")).body as unknown as { data: AuditedEntry[] };
  return data.filter(({ path }) => path === "config" || path.startsWith("/admin/v1/config"));
}

function modelAt(prompt: string): Record<string, unknown> {
  return { ...textModel("acme/one", ["first"]), pricing: { prompt, completion: "0.000002" } };
}

/** What SIGHUP does in a process. */
async function hangUp(gateway: LiveTestGateway): Promise<void> {
  const changes = await gateway.app.configChanges?.();
  await changes?.reload({ by: "SIGHUP", origin: "SIGHUP" });
}

const pricesFrom = (before: string, after: string) => ({
  models: { "acme/one": { "pricing.prompt": { before, after } } },
});

Deno.test("a reload by a signal has an audit entry with prices before and after, and an unchanged file has none", async () => {
  await withGateway(async ({ gateway, one }) => {
    gateway.write({ models: [modelAt("0.000001")] });
    await gateway.admin("POST", RELOAD);
    const before = await entriesOf(gateway);
    gateway.write({
      models: [modelAt("0.000005")],
      aliases: { quick: "acme/one" },
      logs: { level: "warn" },
      egress: { allow: ["127.0.0.1/32"] },
      retention: { tasks: 86_400 },
      providers: { first: provider(one, "another-vendor-key") },
    });
    await hangUp(gateway);
    await hangUp(gateway);
    const [entry, ...others] = await entriesOf(gateway);
    assertEquals(others, before);
    assertEquals([entry?.actor, entry?.method, entry?.path, entry?.state], [
      "configuration",
      "SIGHUP",
      "config",
      "done",
    ]);
    assertEquals(entry?.after, {
      file: entry?.after.file,
      version: 0,
      added: { aliases: ["quick"] },
      removed: {},
      changed: {
        ...pricesFrom("0.000001", "0.000005"),
        providers: { first: { api_key: "(secret)" } },
        logs: { level: { value: { before: null, after: "warn" } } },
        egress: { allow: { value: { before: null, after: ["127.0.0.1/32"] } } },
      },
      restart: ["retention.tasks"],
      revoked_keys: [],
    });
  });
});

Deno.test("a reload that is refused has no audit entry", async () => {
  await withGateway(async ({ gateway }) => {
    gateway.write({ egress: { ca_file: "/missing/roots.pem" } });
    await hangUp(gateway).catch(() => {});
    assertEquals(await entriesOf(gateway), []);
  });
});

Deno.test("settings that another gateway stored have no second entry here, but what the file changed meanwhile has", async () => {
  await withGateway(async ({ gateway }) => {
    const { store } = gateway.app;
    const changes = await gateway.app.configChanges?.();
    const storeAlias = (version: number, name: string) =>
      addStoredVersion(store, {
        version,
        at: 0,
        by: "ops",
        diff: { added: { aliases: [name] }, changed: {}, removed: {}, restart: [] },
        content: { aliases: Object.fromEntries(["a", "b"].slice(0, version).map((each) => [each, "acme/one"])) },
      });
    await storeAlias(1, "a");
    await changes?.follow();
    assertEquals(await entriesOf(gateway), []);
    const [{ pricing }] = [textModel("acme/one", ["first"]) as { pricing: { prompt: string } }];
    gateway.write({ models: [{ ...textModel("acme/one", ["first"]), pricing: { ...pricing, prompt: "0.000005" } }] });
    await storeAlias(2, "b");
    await changes?.follow();
    const [entry] = await entriesOf(gateway);
    assertEquals([entry?.actor, entry?.method, entry?.after.version], ["configuration", "FOLLOW", 2]);
    assertEquals([entry?.after.added, entry?.after.changed], [
      { aliases: ["b"] },
      pricesFrom(pricing.prompt, "0.000005"),
    ]);
  });
});

Deno.test("a start has an audit entry with what changed in the file since the last one", async () => {
  const folder = await Deno.makeTempDir();
  const vendor = startVendor("one");
  const run = async (sections: Record<string, unknown>, test: (gateway: LiveTestGateway) => Promise<void>) => {
    const gateway = await startLiveGateway({
      store: `kv:${folder}/store.db`,
      adminKey: "an-admin-key-of-the-test",
      sections: {
        files: `${folder}/files`,
        ...sections,
      },
    });
    try {
      await test(gateway);
    } finally {
      await gateway.stop();
    }
  };
  const first = { providers: { first: provider(vendor) }, models: [modelAt("0.000001")] };
  try {
    await run(first, async (gateway) => assertEquals(await entriesOf(gateway), []));
    await run(first, async (gateway) => assertEquals(await entriesOf(gateway), []));
    const second = {
      providers: { first: provider(vendor, "another-vendor-key"), second: provider(vendor) },
      models: [modelAt("0.000005")],
      billing: { preauthorize: false },
    };
    await run(second, async (gateway) => {
      const [entry, ...others] = await entriesOf(gateway);
      assertEquals(others, []);
      assertEquals([entry?.actor, entry?.method, entry?.path, entry?.state], [
        "configuration",
        "START",
        "config",
        "done",
      ]);
      assertEquals([entry?.after.added, entry?.after.changed], [{ providers: ["second"] }, {
        ...pricesFrom("0.000001", "0.000005"),
        providers: { first: { api_key: "(secret)" } },
        billing: { preauthorize: { value: { before: null, after: false } } },
      }]);
      const stored = JSON.stringify(await gateway.app.store.scan(["config"], { limit: 10 }));
      assertEquals(stored.includes("vendor-key"), false);
      gateway.write({ models: [modelAt("0.000007")] });
      await gateway.admin("POST", RELOAD);
    });
    await run({ ...second, models: [modelAt("0.000007")] }, async (gateway) => {
      assertEquals((await entriesOf(gateway)).map(({ method }) => method), ["POST", "START"]);
    });
    await run(first, async (gateway) => {
      const [entry] = await entriesOf(gateway);
      assertEquals(entry?.after.removed, { providers: ["second"] });
      assertStringIncludes(JSON.stringify(entry?.after.changed), '{"before":"0.000007","after":"0.000001"}');
    });
  } finally {
    await vendor.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the audit entry of a change too large for it has the prices first and the number of what is left out", async () => {
  await withGateway(async ({ gateway }) => {
    const models = Array.from({ length: 400 }, (_, index) => textModel(`acme/model-${index}`, ["first"]));
    gateway.write({ models: [modelAt("0.000001"), ...models] });
    await hangUp(gateway);
    gateway.write({ models: [modelAt("0.000005")] });
    await hangUp(gateway);
    const [shrunk, grown] = await entriesOf(gateway);
    assertEquals(shrunk?.after.changed, pricesFrom("0.000001", "0.000005"));
    const { added, omitted } = grown?.after as { added: { models: string[] }; omitted: number };
    assertEquals([added.models.length + omitted, omitted > 0], [400, true]);
    assertEquals(grown?.after.changed, {
      models: {
        "acme/one": {
          "pricing.input_cache_read": { before: PRICING.input_cache_read, after: null },
          "pricing.input_cache_write": { before: PRICING.input_cache_write, after: null },
        },
      },
    });
    gateway.write({ models: [modelAt("0.000007"), ...models] });
    await gateway.admin("POST", RELOAD);
    const [byApi] = await entriesOf(gateway);
    assertEquals([byApi?.method, byApi?.after.changed], ["POST", pricesFrom("0.000005", "0.000007")]);
  });
});
