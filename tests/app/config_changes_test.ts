import { assertEquals } from "@std/assert";
import { ConfigChanges } from "../../src/entry/app/operators/config_changes.ts";
import { createKeyRing } from "../../src/money/billing/keys/key_ring.ts";
import { type Config, readLayers } from "../../src/config/config.ts";
import { isLive } from "../../src/config/tree/plain_tree.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const BEFORE = `
server: { port: 8787, admin_key: 0123456789abcdef }
providers: { openai: { kind: openai, api_key: k } }
limits: { memory: 100MB, text_body: 1MB, vendor_polling: { first: 5 } }
`;
const AFTER = `
server: { port: 8788, admin_key: fedcba9876543210, admin_keys: [{ name: ops, key: 0123456789abcdef0, role: read }] }
store: "kv:./other.db"
files: ./other
accounts: [{ id: acme }]
providers: { openai: { kind: openai, api_key: k2 } }
models: [{ id: openai/gpt-6-luna, serves: [{ provider: openai }], pricing: free }]
catalog: built_in
prices: { every: 1h }
aliases: { fast: openai/gpt-6-luna }
limits: { memory: 200MB, text_body: 2MB, vendor_polling: { first: 6 } }
retention: { tasks: 86400 }
billing: { durability: power }
webhooks: { timeout: 5 }
notifications: { balance_low: [1d] }
egress: { allow: [10.0.0.0/8] }
logs: { level: debug }
request_log: false
tracing: { endpoint: "http://collector:4318" }
console: true
`;

const layersOf = (text: string) => readLayers({ text, file: "switchyard.yaml", env: () => undefined, stored: {} });

Deno.test("ConfigChanges activates the settings whose entries are live, and keeps the others until a restart", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const [started, next] = [layersOf(BEFORE), layersOf(AFTER)];
  const inForce: Config[] = [];
  const levels: string[] = [];
  const changes = new ConfigChanges({
    services: {
      store,
      keys: createKeyRing({ store, clock, isAdminKey: () => Promise.resolve(false) }),
      log: silentLog,
      config: started.config,
    },
    async replace(config, beforeSwap) {
      await beforeSwap();
      inForce.push(config);
    },
  }, {
    loaded: started,
    version: 0,
    source: { path: null, load: () => next },
    setLogLevel: (level) => void levels.push(level),
  });
  const { diff } = await changes.reload({ by: "ops" });
  const [config] = inForce;
  const { server, limits, ...others } = started.config;
  const { accounts, providers, models, modelPatterns, builtInIds, aliases, notifications, egress, logs, catalog } =
    next.config;
  assertEquals(config, {
    ...others,
    ...{ accounts, providers, models, modelPatterns, builtInIds, aliases, notifications, egress, logs, catalog },
    server: { ...server, adminKey: next.config.server.adminKey, adminKeys: next.config.server.adminKeys },
    limits: {
      ...next.config.limits,
      memoryBytes: limits.memoryBytes,
      minFreeDiskBytes: limits.minFreeDiskBytes,
      filesQuotaBytes: limits.filesQuotaBytes,
      vendorPolling: limits.vendorPolling,
    },
  });
  assertEquals(levels, ["debug"]);
  const wrong = diff.restart.filter((path) => {
    const [section = "", name = ""] = path.split(".");
    return isLive(next.tree, section, name);
  });
  assertEquals([wrong, diff.restart.includes("limits.memory"), diff.restart.includes("limits.text_body")], [
    [],
    true,
    false,
  ]);
});
