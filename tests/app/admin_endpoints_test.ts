import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { assertEquals } from "@std/assert";
import { createAdminRoutes } from "../../src/entry/app/operators/admin.ts";
import { adminAccessWith } from "../../src/entry/app/opening/admin_access.ts";
import { openFileStores } from "../../src/entry/app/opening/file_stores.ts";
import { createKeyRing } from "../../src/money/billing/keys/key_ring.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import { createUsageReports } from "../../src/money/billing/usage/usage_report.ts";
import { UsageRollup } from "../../src/money/billing/usage/usage_rollup.ts";
import { openConfigSource } from "../../src/config/load_config.ts";
import type { Endpoint } from "../../src/platform/endpoints/endpoint.ts";
import { CONFIG_ENDPOINTS, OPERATOR_ENDPOINTS, REQUEST_ENDPOINTS } from "../../src/platform/endpoints/operators.ts";
import { WrongKeys } from "../../src/platform/http/wrong_keys.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openSigningKeys } from "../../src/services/videos/results/signing_keys.ts";
import { openDeliveryAdmin } from "../../src/services/webhooks/delivery_admin.ts";
import { openEventFeed } from "../../src/services/webhooks/event_feed.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

/** The routes of the admin API over an empty store. */
async function loadedRoutes(): Promise<readonly Endpoint[]> {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const { config } = openConfigSource({ path: undefined, env: () => undefined }).load({});
  const meter = createMeter({ store, clock, log: silentLog, writeGuard: store.writeGuard });
  const rollup = new UsageRollup({ store, clock, log: silentLog });
  return createAdminRoutes({
    config,
    access: adminAccessWith([], { config, store, clock, wrongKeys: new WrongKeys(clock) }),
    store,
    catalog: createCatalog(config.models),
    log: silentLog,
    videos: null,
    batches: () => Promise.reject(new Error("No batch runs here")),
    receivers: () => Promise.reject(new Error("No receiver is opened here")),
    keys: createKeyRing({ store, clock }),
    meter,
    usage: createUsageReports({ store, rollup, meter }),
    cacheHits: null,
    traffic: {
      history: () => Promise.reject(new Error("No traffic is counted here")),
      streams: () => Promise.reject(new Error("No stream is opened here")),
      now: () => ({ openStreams: 0, memory: { inUse: 0, limitBytes: 0 }, unpriced: [] }),
      nearEnds: () => Promise.resolve({ accounts: [], budgets: [], keys: [] }),
      countJobs: () => Promise.resolve({}),
    },
    clock,
    startedAt: clock.now(),
    files: openFileStores(config, silentLog, { clock, caCerts: [], proxies: config.proxies }),
    forgetReplies: () => 0,
    otherGateways: () => null,
    slots: { loadOf: () => null },
    providers: new Map(),
    breaker: { health: () => [] },
    deliveries: openDeliveryAdmin(store),
    feed: openEventFeed(store, clock),
    signingKeys: await openSigningKeys(store),
    requestLog: null,
    egress: null,
    tree: null,
    prices: () => null,
    configChanges: () => Promise.reject(new Error("The configuration is not changed here")),
    baseUrl: () => "",
  });
}

function named(endpoints: readonly Endpoint[]): string[] {
  return endpoints.map(({ method, path }) => `${path} ${method}`).sort();
}

Deno.test("admin endpoints: the table has every route of the admin API, and no other", async () => {
  const table = [OPERATOR_ENDPOINTS, REQUEST_ENDPOINTS, CONFIG_ENDPOINTS].flatMap((rows) =>
    Object.values<Endpoint>(rows)
  );
  assertEquals(named(table), named(await loadedRoutes()));
});
