import { CONFIG_ENDPOINTS, OPERATOR_ENDPOINTS, REQUEST_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import { SERVICE_ENDPOINTS } from "../../../platform/endpoints/service.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { withLargeBodies } from "../../../threads/serving/large_route.ts";
import { guarded } from "../../../protocols/admin/admin_access.ts";
import { renderAdminError } from "../../../protocols/admin/shared/answer.ts";
import { adminMetricsRoutes } from "../../../protocols/admin/metrics.ts";
import { deliveryRoutes } from "../../../protocols/default/deliveries.ts";
import { withCallerRates } from "../../../protocols/limited_routes.ts";
import { lazyRoutesAt, routesAt } from "../../../protocols/route_at.ts";
import { withResume } from "../../../services/replays/resume_route.ts";
import { withReplays } from "../../../services/replays/replay_route.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import { providerIdOf } from "../../../platform/names/provider_name.ts";
import type { ConfigChanges } from "../operators/config_changes.ts";
import { type AdminAccess, openAdminAccess } from "../opening/admin_access.ts";
import { createConsoleRoutes, hasConsole } from "../features/console.ts";
import type { Features, GatewayState } from "../features/features.ts";
import { catalogRoutes } from "./catalog_routes.ts";
import { gatewayMetrics } from "./gateway_metrics.ts";
import { otherGatewaysOn } from "../opening/other_gateways.ts";
import type { OwnedServices } from "../opening/own.ts";
import { needsAdminKey, readinessHandler, readinessOf, type ReadinessOptions } from "./readiness.ts";
import { lateCallerRoutes } from "./late_endpoints.ts";
import { answerInLargeThread, createRequestFiles, createTextRoutes } from "../features/text_routes.ts";
import { createVideoRoutes } from "../features/videos.ts";
import { replayOptions } from "../opening/replays.ts";
import type { PriceFeed } from "../../../vendors/prices/price_feed.ts";
import { createRouter, type Router } from "../routing/router.ts";
import { routerOptions } from "../routing/router_options.ts";
import { clockDifference } from "../../../platform/store/clock_difference.ts";

const notificationSummary = new Late(() => import("../../../services/notifications/summary.ts"));

/** The parts of a gateway that are the same for all configurations. */
export interface GatewayParts {
  readonly state: GatewayState;
  /** Null if the configuration is not changed while the gateway runs. */
  readonly configChanges: (() => Promise<ConfigChanges>) | null;
  /** Gives the price source; null without one. */
  readonly prices: () => PriceFeed | null;
}

/** The routers of a gateway. */
export interface GatewayRouters {
  /** The endpoints at the gateway's own address. */
  readonly main: Router;
  /** Those at `server.admin_listen`; null if the admin API is at the gateway's own address. */
  readonly admin: Router | null;
}

/** Builds the routers of all endpoints. */
export function createGatewayRouters(
  services: OwnedServices,
  features: Features,
  { state, configChanges, prices }: GatewayParts,
): GatewayRouters {
  const { authenticate, config: { limits: { textBodyBytes, bodyIdleMs, largeBodyBytes } } } = services;
  const limits = { capBytes: textBodyBytes, idleMs: bodyIdleMs };
  const large = { large: features.large, authenticate, limits, largeBytes: largeBodyBytes };
  const access = openAdminAccess(services);
  const metrics = gatewayMetrics({ ...services, large: features.large });
  const adminParts = { services, features, state, configChanges, prices, access };
  const served = services.roles.serves ? callerRoutes(services, features, () => state.baseUrl) : [];
  const replayed = withReplays(
    withResume(served.map((route) => withLargeBodies(route, large)), {
      keptStreams: features.keptStreams,
      streamPlaces: features.streamPlaces,
      authenticate,
      detached: services.openStreams.detached,
      settings: services.config.limits.resume,
    }),
    replayOptions(services),
  );
  const forCallers = withCallerRates(replayed, { store: services.store, authenticate, limits: services.config.limits });
  const detailsWithKey = healthRoutes(services, state, needsAdminKey(access));
  if (services.config.server.adminListen === null) {
    const admin = adminRoutesOf({ ...adminParts, metrics });
    const routes = [...forCallers, ...admin, ...detailsWithKey, ...consoleRoutesOf(adminParts, admin, forCallers)];
    return { main: createRouter(routes, routerOptions(() => state.baseUrl, { hasAdmin: true })), admin: null };
  }
  // At an address of their own, metrics and details of the state need no key.
  const forOperators = adminRoutesOf({ ...adminParts, metrics: null });
  const admin = [
    ...forOperators,
    ...consoleRoutesOf(adminParts, forOperators, forCallers),
    ...adminMetricsRoutes({ families: metrics }),
    ...healthRoutes(services, state, null),
  ];
  return {
    main: createRouter([...forCallers, ...detailsWithKey], routerOptions(() => state.baseUrl, { hasAdmin: false })),
    admin: createRouter(admin, { sections: [], renderError: renderAdminError }),
  };
}

/** The endpoints for callers. */
function callerRoutes(services: OwnedServices, features: Features, baseUrl: () => string): Route[] {
  const { authenticate, config: { limits } } = services;
  const { texts, caches, webhooks, videos } = features;
  const bodyLimits = { capBytes: limits.textBodyBytes, idleMs: limits.bodyIdleMs };
  const files = createRequestFiles(services, {
    elsewhere: answerInLargeThread(features.large, limits.largeBodyBytes),
  });
  const textOptions = { turns: texts, caches: caches.caches, authenticate, bodyLimits, files };
  return [
    ...createTextRoutes(textOptions),
    ...caches.routes,
    ...lateCallerRoutes({ services, features, baseUrl }),
    ...createVideoRoutes(services, videos.videos),
    ...deliveryRoutes({ videos: videos.videos, admin: webhooks.deliveries, authenticate }),
    ...catalogRoutes(services, texts),
  ];
}

interface ConsoleParts extends GatewayParts {
  readonly services: OwnedServices;
  readonly features: Features;
  readonly access: AdminAccess | null;
}

/** The console; none if it is off. */
function consoleRoutesOf(
  { services: { config, authenticate }, features, access, state }: ConsoleParts,
  forOperators: readonly Route[],
  forCallers: readonly Route[],
): Route[] {
  if (!hasConsole(config)) return [];
  const baseUrl = () => state.baseUrl;
  return createConsoleRoutes({ state: features.console, access, authenticate, forOperators, forCallers, baseUrl });
}

interface AdminParts extends ConsoleParts {
  readonly metrics: ReturnType<typeof gatewayMetrics> | null;
}

/**
 * The endpoints for operators; none without an admin key in the configuration. The first request to one of them loads
 * their code, except for the metrics, which monitoring reads from every gateway.
 */
function adminRoutesOf({ services, features, state, configChanges, prices, access, metrics }: AdminParts): Route[] {
  if (access === null) return [];
  const { webhooks } = features;
  const shownEndpoints = services.tree === null ? [] : [CONFIG_ENDPOINTS.readConfig];
  const configEndpoints = configChanges === null ? shownEndpoints : Object.values(CONFIG_ENDPOINTS);
  const endpoints = [...Object.values(OPERATOR_ENDPOINTS), ...Object.values(REQUEST_ENDPOINTS), ...configEndpoints];
  const routes = lazyRoutesAt(endpoints, async () => {
    const { createAdminRoutes } = await import("../operators/admin.ts");
    return createAdminRoutes({
      ...services,
      access,
      startedAt: services.counts.startedAt,
      deliveries: webhooks.deliveries,
      feed: webhooks.feed,
      receivers: features.receivers.load,
      videos: features.videos.videos,
      batches: async () => (await features.batches.load()).batches,
      forgetReplies: features.forgetReplies,
      traffic: {
        history: features.console.history.load,
        streams: features.console.streams.load,
        now: () => ({
          openStreams: services.openStreams.count,
          memory: services.memory,
          unpriced: services.counts.requests.unpriced(),
        }),
        countJobs: () => countJobs(services),
        nearEnds: async () => await (await notificationSummary.load()).readNearEnds(services.store),
      },
      otherGateways: () => otherGatewaysOn(services.store, services.clock),
      prices,
      configChanges,
      baseUrl: () => state.baseUrl,
    });
  });
  const measured = metrics === null ? [] : adminMetricsRoutes({ families: metrics });
  return [...routes, ...measured.map((route) => guarded(route, access))];
}

async function countJobs({ store }: OwnedServices): Promise<Readonly<Record<string, number>>> {
  const jobs = (await store.metrics()).find(({ name }) => name === "switchyard_jobs")?.samples ?? [];
  return Object.fromEntries(jobs.map(({ labels, value }) => [String(labels.kind), value]));
}

/** @param authorize Passes a request that may see details; null if all may. */
function healthRoutes(
  services: OwnedServices,
  state: GatewayState,
  authorize: ReadinessOptions["authorize"],
): Route[] {
  const { config, store, breaker, files } = services;
  const readiness = readinessHandler({
    ...readinessOf(state, store),
    clockDifference: () => clockDifference(store),
    providers: Object.entries(config.providers).map(([name, { credentials, halt }]) => ({
      name,
      ids: credentials?.map((each) => providerIdOf(name, each.name)) ?? [name],
      service: halt?.state ?? "on",
    })),
    breaker,
    filesUsage: () => files.quota.usage,
    authorize,
  });
  return [
    ...routesAt(SERVICE_ENDPOINTS.readHealth, () => new Response("ok\n")),
    ...routesAt(SERVICE_ENDPOINTS.readReadiness, readiness),
  ];
}
