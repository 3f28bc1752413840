import type { KeyRing } from "../../../money/billing/keys/key_ring.ts";
import type { LedgerMeter } from "../../../money/billing/meter/meter.ts";
import type { UsageReports } from "../../../money/billing/usage/usage_report.ts";
import type { Config } from "../../../config/config.ts";
import { noBodiesReasonOf } from "../../../config/sections/captured_bodies.ts";
import type { ConfigTree } from "../../../config/tree/plain_tree.ts";
import { CONFIG_ENDPOINTS, REQUEST_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { readJsonObject, readOptionalJsonObject } from "../../../platform/http/bodies/json_body.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { ReadJson } from "../../../protocols/admin/accounts.ts";
import { openCacheAdmin } from "../../../services/caches/cache_admin.ts";
import { openBatchAdmin } from "../../../services/batches/batch_admin.ts";
import { type AdminBatchOptions, adminBatchRoutes } from "../../../protocols/admin/batches.ts";
import { adminCacheRoutes } from "../../../protocols/admin/caches.ts";
import { adminDeliveryRoutes } from "../../../protocols/admin/deliveries.ts";
import { adminModelRoutes } from "../../../protocols/admin/models.ts";
import { adminPriceRoutes } from "../../../protocols/admin/prices.ts";
import { PAGE_PARAMETERS } from "../../../protocols/admin/shared/query.ts";
import { adminEventRoutes } from "../../../protocols/admin/events.ts";
import { type AdminOverviewOptions, adminOverviewRoutes } from "../../../protocols/admin/overview_events.ts";
import {
  type AdminProviderOptions,
  adminProviderRoutes,
  type SetProviderState,
  type TestProvider,
  writeProviders,
} from "../../../protocols/admin/providers.ts";
import { adminReconcileRoutes } from "../../../protocols/admin/reconcile.ts";
import { adminRoutes } from "../../../protocols/admin/routes.ts";
import type { EraseAccount } from "../../../protocols/admin/erasure.ts";
import { guarded, isStillOperator } from "../../../protocols/admin/admin_access.ts";
import { type AdminRoute, PRIVATE_READ } from "../../../protocols/admin/shared/admin_route.ts";
import { adminAuditRoutes } from "../../../protocols/admin/audit.ts";
import { adminReceiverRoutes } from "../../../protocols/admin/receivers.ts";
import { adminSigningKeyRoutes } from "../../../protocols/admin/signing_keys.ts";
import type { RunningVideos } from "../../../protocols/admin/shared/task_changes.ts";
import { adminTaskRoutes } from "../../../protocols/admin/tasks.ts";
import { type AdminTrafficOptions, adminTrafficRoutes, trafficReader } from "../../../protocols/admin/traffic.ts";
import type { LoggedTraffic } from "../../../protocols/admin/shared/traffic_groups.ts";
import { adminUsageRoutes } from "../../../protocols/admin/usage.ts";
import type { PriceFeed } from "../../../vendors/prices/price_feed.ts";
import { lazyRoutesAt } from "../../../protocols/route_at.ts";
import type { AttemptSlots } from "../../../vendors/routing/attempt_slots.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import { Reconciler } from "../../../vendors/reconciliation/reconcile.ts";
import type { RequestLog } from "../../../observers/request_log/request_log.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import type { DatedCatalog } from "../../../vendors/catalog/catalog.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import { serviceStateOf } from "../../../vendors/upstreams/settings/serving_providers.ts";
import type { ConfigChanges } from "./config_changes.ts";
import type { FileStores } from "../opening/file_stores.ts";
import type { Poller } from "../../../services/videos/polling/poller.ts";
import type { SigningKeyRing } from "../../../services/videos/results/signing_keys.ts";
import { openTaskAdmin } from "../../../services/videos/upkeep/task_admin.ts";
import type { AdminAccess } from "../opening/admin_access.ts";
import type { CountedHits } from "../opening/caches.ts";
import type { OtherGateways } from "../opening/other_gateways.ts";
import type { DeliveryAdmin } from "../../../services/webhooks/delivery_admin.ts";
import type { EventFeed } from "../../../services/webhooks/event_feed.ts";
import type { TestReceivers } from "../../../services/webhooks/test_receivers.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const providerTestModule = new Late(() => import("./provider_test.ts"));
const eraseAccountModule = new Late(() => import("./erase_account.ts"));
const providerStatesModule = new Late(() => import("./provider_states.ts"));
const requestsModule = new Late(() => import("../../../protocols/admin/requests.ts"));
const configAdminModule = new Late(() => import("./config_admin.ts"));
const configModule = new Late(() => import("../../../protocols/admin/config.ts"));
const auditedConfigModule = new Late(() => import("../opening/audited_config.ts"));
const shownConfigModule = new Late(() => import("./shown_config.ts"));

/** Options of {@linkcode createAdminRoutes}. */
export interface AdminRouteOptions {
  readonly config: Config;
  readonly access: AdminAccess;
  readonly catalog: DatedCatalog;
  readonly store: Store;
  readonly keys: KeyRing;
  readonly meter: LedgerMeter;
  readonly clock: Clock;
  readonly log: Log;
  /** The start of this process in Unix milliseconds. */
  readonly startedAt: number;
  readonly breaker: Pick<CircuitBreaker, "health">;
  /** The load of providers with limits. */
  readonly slots: Pick<AttemptSlots, "loadOf">;
  readonly files: Pick<FileStores, "results" | "caches">;
  /** Removes what is kept in memory of an account's replies, and returns the number. */
  readonly forgetReplies: (account: string) => number;
  /** Gives the other gateways on the store now; null if there are none. */
  readonly otherGateways: () => OtherGateways | null;
  /** The providers that a test calls, by id. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly deliveries: DeliveryAdmin;
  readonly feed: EventFeed;
  /** Null for a gateway that does not run. */
  readonly receivers: (() => Promise<TestReceivers>) | null;
  /** Null for a gateway that does not run. */
  readonly videos: RunningVideos & { readonly poller: Pick<Poller, "loadOf"> } | null;
  /** Null for a gateway that does not run. */
  readonly batches: AdminBatchOptions["running"];
  readonly usage: UsageReports;
  /** Null for a gateway that does not run. */
  readonly cacheHits: Pick<CountedHits, "writeAll"> | null;
  /** Null for a gateway that does not run. */
  readonly traffic: AdminTrafficOptions & Pick<AdminOverviewOptions, "streams"> | null;
  readonly signingKeys: Pick<SigningKeyRing, "rotate">;
  /** The rules for the addresses of vendors' reports; null for a gateway that does not run. */
  readonly egress: EgressPolicy | null;
  /** Null if requests are not logged. */
  readonly requestLog: RequestLog | null;
  /** Gives the price source; null without one, or for a gateway that does not run. */
  readonly prices: () => PriceFeed | null;
  /** Null if the configuration is not changed while the gateway runs. */
  readonly configChanges: (() => Promise<ConfigChanges>) | null;
  /** What is shown of a configuration that is not changed; null for nothing. */
  readonly tree: ConfigTree | null;
  /** Gives the gateway's own address without a final slash. */
  readonly baseUrl: () => string;
}

/** Builds the admin API. Its addresses are in `endpoints/operators.ts`. */
export function createAdminRoutes(options: AdminRouteOptions): Route[] {
  const { config, access, store, keys, meter, clock, startedAt, breaker } = options;
  const { slots, providers: tested, deliveries, feed, signingKeys, usage, configChanges, baseUrl } = options;
  const { requestLog, files, forgetReplies, traffic, log, receivers, cacheHits } = options;
  const limits = { capBytes: config.limits.otherBodyBytes, idleMs: config.limits.bodyIdleMs };
  const readJson: ReadJson = async (inbound) => (await readJsonObject(inbound, limits)).body;
  const readOptionalJson: ReadJson = (inbound) => readOptionalJsonObject(inbound, limits);
  const providers = Object.entries(config.providers).map(([name, provider]) => ({
    name,
    kind: provider.kind,
    credentials: provider.credentials?.map((each) => each.name) ?? [],
    service: serviceStateOf(provider),
  }));
  const test: TestProvider = async (name, credential) => {
    const { testProvider } = await providerTestModule.load();
    return await testProvider({ config, providers: tested, clock }, name, credential);
  };
  const erase: EraseAccount = async (account) => {
    const { eraseAccount } = await eraseAccountModule.load();
    const { audit } = access;
    const others = options.otherGateways();
    return await eraseAccount({ store, keys, meter, files, requestLog, audit, forgetReplies, others }, account);
  };
  const pollsOf: AdminProviderOptions["pollsOf"] = (id) => options.videos?.poller.loadOf(id) ?? null;
  const setState: SetProviderState | null = configChanges && (async (...change) => {
    const { providerStates } = await providerStatesModule.load();
    return await providerStates(await configChanges(), () => store.now())(...change);
  });
  const ofProviders = {
    providers,
    breaker,
    slots,
    pollsOf,
    startedAt,
    test,
    setState,
    readJson,
    readOptionalJson,
  };
  const routes: readonly AdminRoute[] = [
    ...adminRoutes({
      store,
      keys,
      meter,
      readJson,
      readOptionalJson,
      accounts: config.accounts,
      noBodiesReason: noBodiesReasonOf(config.requestLog),
      erase,
    }),
    ...adminDeliveryRoutes({ admin: deliveries, readJson }),
    ...adminEventRoutes({ feed, readJson, baseUrl, now: () => store.now() }),
    ...receivers === null ? [] : adminReceiverRoutes({
      receivers,
      feed,
      readJson,
      readOptionalJson,
      baseUrl,
      now: () => store.now(),
    }),
    ...adminCacheRoutes({ admin: openCacheAdmin(store, log, async () => await cacheHits?.writeAll()) }),
    ...adminBatchRoutes({ admin: openBatchAdmin({ store, files: files.results, log }), running: options.batches }),
    ...adminTaskRoutes({ admin: openTaskAdmin(store), videos: options.videos }),
    ...adminProviderRoutes(ofProviders),
    ...adminModelRoutes({
      catalog: options.catalog,
      aliases: config.aliases,
      providers: config.providers,
      answering: (name) => tested.get(name)?.answering,
      readJson,
    }),
    ...adminPriceRoutes({ settings: config.prices, feed: options.prices, audit: access.audit, readOptionalJson }),
    ...adminUsageRoutes({ usage }),
    ...adminReconcileRoutes({
      reconciler: reconcilerOf(options),
      readJson: async (inbound) => (await readJsonObject(inbound, { ...limits, capBytes: MAX_INVOICE_BYTES })).body,
    }),
    ...traffic === null ? [] : overviewRoutes({
      ...traffic,
      clock,
      access,
      ofProviders,
      logged: { requests: requestLog, retentionMs: config.requestLog.retentionMs },
    }),
    ...adminSigningKeyRoutes({ signingKeys }),
    ...requestRoutes(requestLog),
    ...configChanges === null ? shownConfigRoutes(options) : configRoutes({ changes: configChanges, readJson }),
    ...adminAuditRoutes({ ...access, readJson }),
  ];
  return routes.map((route) => guarded(route, access));
}

/** The largest body with an invoice as JSON text. */
const MAX_INVOICE_BYTES = 8 * 1024 * 1024;

function reconcilerOf({ egress, config, usage, store, catalog, requestLog }: AdminRouteOptions): Reconciler | null {
  if (egress === null) return null;
  return new Reconciler({ providers: config.providers, usage, store, catalog, requestLog, egress });
}

interface OverviewParts extends AdminTrafficOptions, Pick<AdminOverviewOptions, "streams"> {
  readonly clock: Clock;
  readonly access: AdminAccess;
  readonly ofProviders: AdminProviderOptions;
  readonly logged: LoggedTraffic;
}

/** The traffic, and its changes together with those of the providers. */
function overviewRoutes({ streams, access, ofProviders, logged, ...traffic }: OverviewParts): AdminRoute[] {
  const readTraffic = trafficReader(traffic);
  const readProviders = () => writeProviders(ofProviders);
  const isOperator: AdminOverviewOptions["isOperator"] = (inbound) => isStillOperator(inbound, access);
  return [
    ...adminTrafficRoutes({ read: readTraffic, logged, clock: traffic.clock }),
    ...adminOverviewRoutes({ streams, readTraffic, readProviders, isOperator }),
  ];
}

/** The endpoints of the log of requests. The first request to one of them loads their code. */
function requestRoutes(requests: RequestLog | null): AdminRoute[] {
  const routes = lazyRoutesAt(
    Object.values(REQUEST_ENDPOINTS),
    async () => (await requestsModule.load()).adminRequestRoutes(requests),
  );
  return routes.map((route) => ({
    ...route,
    parameters: route.path === REQUEST_ENDPOINTS.listRequests.path ? null : [],
    ...route.path === REQUEST_ENDPOINTS.readRequestBodies.path ? PRIVATE_READ : { role: "read" },
  }));
}

/** The configuration endpoints. The first request to one of them loads their code. */
function configRoutes(
  { changes, readJson }: {
    readonly changes: () => Promise<ConfigChanges>;
    readonly readJson: ReadJson;
  },
): AdminRoute[] {
  const routes = lazyRoutesAt(
    Object.values(CONFIG_ENDPOINTS),
    async () => {
      const { createConfigAdmin } = await configAdminModule.load();
      const { adminConfigRoutes } = await configModule.load();
      return adminConfigRoutes({ admin: createConfigAdmin(await changes()), readJson });
    },
  );
  const parameters = (path: string) => path === CONFIG_ENDPOINTS.listConfigVersions.path ? PAGE_PARAMETERS : [];
  return routes.map((route) => ({
    ...route,
    role: route.method === "GET" ? "read" : "owner",
    parameters: parameters(route.path),
    auditedResult: async (body) => (await auditedConfigModule.load()).auditedAnswer(body),
  }));
}

/** The configuration of a gateway that does not change it. */
function shownConfigRoutes({ tree }: Pick<AdminRouteOptions, "tree">): AdminRoute[] {
  if (tree === null) return [];
  const routes = lazyRoutesAt(
    [CONFIG_ENDPOINTS.readConfig],
    async () => {
      const { shownConfig } = await shownConfigModule.load();
      const { adminShownConfigRoutes } = await configModule.load();
      return adminShownConfigRoutes(() => shownConfig({ tree, path: null, version: 0, isReadOnly: true }));
    },
  );
  return routes.map((route) => ({ ...route, role: "read", parameters: [] }));
}
