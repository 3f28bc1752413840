import { createKeyRing } from "../../../money/billing/keys/key_ring.ts";
import { createMeter } from "../../../money/billing/meter/create_meter.ts";
import { createUsageReports } from "../../../money/billing/usage/usage_report.ts";
import { UsageRollup } from "../../../money/billing/usage/usage_rollup.ts";
import { COMMAND_LINE } from "../../../observers/audit/records.ts";
import { createCatalog } from "../../../vendors/catalog/catalog.ts";
import type { Config } from "../../../config/config.ts";
import { createRequestHandler, type RequestHandler } from "../../../platform/http/request_handler.ts";
import { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { silentLog } from "../../../platform/lib/basics/log.ts";
import { renderAdminError } from "../../../protocols/admin/shared/answer.ts";
import type { RequestLog } from "../../../observers/request_log/request_log.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";
import { openSigningKeys } from "../../../services/videos/results/signing_keys.ts";
import { openDeliveryAdmin } from "../../../services/webhooks/delivery_admin.ts";
import { openEventFeed } from "../../../services/webhooks/event_feed.ts";
import { createAdminRoutes } from "../operators/admin.ts";
import { adminAccessWith } from "../opening/admin_access.ts";
import { openFileStores } from "../opening/file_stores.ts";
import { createRouter } from "../routing/router.ts";
import { toCallerError } from "../opening/storage_error.ts";

/** Options of {@linkcode createStoppedAdmin}. */
export interface StoppedAdminOptions {
  readonly config: Config;
  /** Of this process; the caller closes it. */
  readonly store: StoreEngine;
  /** As the store; null if there is none. */
  readonly requestLog: RequestLog | null;
  /** The only admin key, whose changes are those of the command line in the audit log. */
  readonly adminKey: string;
}

/**
 * Builds the admin API over the store of a gateway that does not run. Only a request changes the store.
 */
export function createStoppedAdmin(
  { config, store, requestLog, adminKey }: StoppedAdminOptions,
): RequestHandler {
  const [clock, log] = [systemClock, silentLog];
  const meter = createMeter({ store, clock, log, writeGuard: store.writeGuard });
  const rollup = new UsageRollup({ store, clock, log });
  const routes = createAdminRoutes({
    config,
    access: adminAccessWith([{ name: COMMAND_LINE, role: "owner", key: adminKey }], {
      config,
      store,
      clock,
      wrongKeys: new WrongKeys(clock),
    }),
    store,
    keys: createKeyRing({ store, clock }),
    meter,
    usage: createUsageReports({ store, rollup, meter }),
    traffic: null,
    cacheHits: null,
    videos: null,
    batches: null,
    receivers: null,
    catalog: createCatalog(config.models),
    log,
    clock,
    startedAt: clock.now(),
    files: openFileStores(config, log, { clock, caCerts: [], proxies: config.proxies }),
    forgetReplies: () => 0,
    otherGateways: () => null,
    slots: { loadOf: () => null },
    providers: new Map(),
    breaker: { health: () => [] },
    deliveries: openDeliveryAdmin(store),
    feed: openEventFeed(store, clock),
    signingKeys: { rotate: async () => await (await openSigningKeys(store)).rotate() },
    requestLog,
    egress: null,
    prices: () => null,
    configChanges: null,
    tree: null,
    baseUrl: () => config.server.baseUrl ?? "",
  });
  const router = createRouter(routes, { sections: [], renderError: renderAdminError });
  return createRequestHandler({ router, log, clock, errorOf: toCallerError });
}
