import type { Model } from "../catalog/model.ts";
import { MESSAGE_FORMAT } from "../conversation/codecs/messages/shared/format_name.ts";
import { CONTENT_KEY_LOCATIONS } from "../http/credentials.ts";
import type { Route } from "../http/inbound.ts";
import { lazyRoutes } from "../http/lazy_routes.ts";
import { withLargeBodies } from "../large_requests/large_route.ts";
import { contentModelRoutes } from "../protocols/content/models.ts";
import { guarded } from "../protocols/admin/admin_access.ts";
import { renderAdminError } from "../protocols/admin/answer.ts";
import { adminMetricsRoutes } from "../protocols/admin/metrics.ts";
import { renderContentError } from "../protocols/content/error.ts";
import { deliveryRoutes } from "../protocols/default/deliveries.ts";
import { renderDefaultError } from "../protocols/default/error.ts";
import { defaultModelRoutes } from "../protocols/default/models.ts";
import { videoModelRoute } from "../protocols/default/video_models.ts";
import { renderVideoError } from "../protocols/default/videos.ts";
import { withCallerRates } from "../protocols/limited_routes.ts";
import type { MessageService } from "../protocols/message/capabilities.ts";
import { renderMessageError } from "../protocols/message/error.ts";
import { messageModelRoutes } from "../protocols/message/models.ts";
import { withResume } from "../replays/resume_route.ts";
import { withReplays } from "../replays/replay_route.ts";
import { providerIdOf } from "../lib/provider_name.ts";
import { canSearch } from "../texts/hosted_search.ts";
import { textEndpointsOf } from "../upstreams/provider.ts";
import type { TextService } from "../texts/text_service.ts";
import { callerCatalog } from "./caller_catalog.ts";
import type { ConfigChanges } from "./config_changes.ts";
import { type AdminAccess, openAdminAccess } from "./admin_access.ts";
import { ADMIN_ENDPOINTS, CONFIG_ENDPOINTS, REQUEST_ENDPOINTS, SHOWN_CONFIG_ENDPOINTS } from "./admin_endpoints.ts";
import { createConsoleRoutes, hasConsole } from "./console.ts";
import type { Features, GatewayState } from "./features.ts";
import { gatewayMetrics } from "./gateway_metrics.ts";
import { createImageRoutes } from "./images.ts";
import { otherGatewaysOn } from "./other_gateways.ts";
import type { OwnedServices } from "./own.ts";
import { needsAdminKey, readinessHandler, readinessOf, type ReadinessOptions } from "./readiness.ts";
import { createTextRoutes } from "./text_routes.ts";
import { createVideoRoutes } from "./videos.ts";
import { createWholeCallRoutes } from "./whole_calls.ts";
import { replayOptions } from "./replays.ts";
import type { PriceFeed } from "../prices/price_feed.ts";
import { createRouter, type Router } from "./router.ts";
import { routerOptions } from "./router_options.ts";
import { clockDifference } from "../store/clock_difference.ts";

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
      holder: features.keptStreams,
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

/** The endpoints of an account's own requests, which are loaded by the first request to one of them. */
const OWN_REQUEST_ENDPOINTS = [
  { method: "GET", path: "/v1/requests" },
  { method: "GET", path: "/v1/requests/:id" },
] as const;

/** The endpoint of streams that can be resumed, which is loaded by the first request to one. */
const STREAM_ENDPOINTS = [{ method: "GET", path: "/v1/requests/:id/stream" }] as const;

/** The endpoint of receivers of webhooks, which is loaded by the first request to one. */
const RECEIVER_ENDPOINTS = [{ method: "POST", path: "/webhook-receivers/:id" }] as const;

/** The endpoint of what a key has used, which is loaded by the first request to it. */
const USAGE_ENDPOINTS = [{ method: "GET", path: "/v1/usage" }] as const;

/** The endpoints about a caller's own key, which are loaded by the first request to one of them. */
const KEY_ENDPOINTS = [{ method: "GET", path: "/v1/key" }, { method: "GET", path: "/v1/credits" }] as const;

/** The documentation, which is loaded by the first request to one of its pages. */
const DOCUMENTATION_ENDPOINTS = [
  { method: "GET", path: "/openapi.json" },
  { method: "GET", path: "/docs" },
  { method: "GET", path: "/docs/:path*" },
] as const;

/** The endpoints for callers. */
function callerRoutes(services: OwnedServices, features: Features, baseUrl: () => string): Route[] {
  const { catalog, authenticate, config: { limits } } = services;
  const { texts, caches, webhooks, videos, receivers, keptStreams } = features;
  const bodyLimits = { capBytes: limits.textBodyBytes, idleMs: limits.bodyIdleMs };
  const textOptions = { turns: texts, caches: caches.caches, authenticate, bodyLimits };
  return [
    ...createTextRoutes(textOptions),
    ...caches.routes,
    ...createImageRoutes(services),
    ...createWholeCallRoutes(services),
    videoModelRoute(catalog, renderVideoError, callerCatalog(services)),
    ...createVideoRoutes(services, videos.videos),
    ...deliveryRoutes({ videos: videos.videos, admin: webhooks.deliveries, authenticate }),
    ...lazyRoutes(RECEIVER_ENDPOINTS, renderDefaultError, async () => {
      const { webhookReceiverRoutes } = await import("../protocols/default/webhook_receiver.ts");
      return webhookReceiverRoutes({ receivers: await receivers.load(), bodyIdleMs: limits.bodyIdleMs });
    }),
    ...lazyRoutes(USAGE_ENDPOINTS, renderDefaultError, async () => {
      return (await import("../protocols/default/usage.ts")).usageRoutes(services);
    }),
    ...lazyRoutes(OWN_REQUEST_ENDPOINTS, renderDefaultError, async () => {
      const { ownRequestRoutes } = await import("../protocols/default/requests.ts");
      return ownRequestRoutes({ authenticate, requests: services.requestLog, renderError: renderDefaultError });
    }),
    ...lazyRoutes(STREAM_ENDPOINTS, renderDefaultError, async () => {
      const { streamRoutes } = await import("../replays/stream_route.ts");
      const [streams, places] = await Promise.all([keptStreams.load(), keptStreams.loadPlaces()]);
      return streamRoutes({ authenticate, streams, catalog, places, renderError: renderDefaultError });
    }),
    ...lazyRoutes(KEY_ENDPOINTS, renderDefaultError, async () => {
      return (await import("../protocols/default/key.ts")).keyRoutes(services);
    }),
    ...lazyRoutes(DOCUMENTATION_ENDPOINTS, renderDefaultError, async () => {
      const { createDocumentationRoutes } = await import("./documentation.ts");
      return createDocumentationRoutes({ renderError: renderDefaultError, baseUrl });
    }),
    ...defaultModelRoutes(catalog, renderDefaultError, callerCatalog(services)),
    ...messageModelRoutes(
      catalog,
      (model) => messageServiceOf(model, texts),
      renderMessageError,
      callerCatalog(services),
    ),
    ...contentModelRoutes(catalog, renderContentError, callerCatalog(services, CONTENT_KEY_LOCATIONS)),
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
  const shownEndpoints = services.tree === null ? [] : SHOWN_CONFIG_ENDPOINTS;
  const configEndpoints = configChanges === null ? shownEndpoints : CONFIG_ENDPOINTS;
  const endpoints = [...ADMIN_ENDPOINTS, ...REQUEST_ENDPOINTS, ...configEndpoints];
  const routes = lazyRoutes(endpoints, renderAdminError, async () => {
    const { createAdminRoutes } = await import("./admin.ts");
    return createAdminRoutes({
      ...services,
      access,
      startedAt: services.counts.startedAt,
      deliveries: webhooks.deliveries,
      feed: webhooks.feed,
      receivers: () => features.receivers.load(),
      videos: features.videos.videos,
      forgetReplies: features.forgetReplies,
      traffic: {
        history: () => features.console.history(),
        streams: () => features.console.streams(),
        now: () => ({
          openStreams: services.openStreams.count,
          memory: services.memory,
          unpriced: services.counts.requests.unpriced(),
        }),
        countJobs: () => countJobs(services),
        nearEnds: async () => {
          const { readNearEnds } = await import("../notifications/summary.ts");
          return await readNearEnds(services.store);
        },
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
  const probe = { method: "GET", renderError: renderDefaultError, isProbe: true } as const;
  return [
    { ...probe, path: "/healthz", handler: () => new Response("ok\n") },
    { ...probe, path: "/readyz", handler: readiness },
  ];
}

/** What the message protocol says about how a model is served. */
function messageServiceOf(model: Model, turns: TextService): MessageService {
  return { passes: passesMessages(model, turns), searches: searchesFor(model, turns) };
}

/** Whether a provider of the model may search the web for requests that are translated. */
function searchesFor(model: Model, { parts }: TextService): boolean {
  if (!model.architecture.outputModalities.includes("text")) return false;
  return model.serves.some(({ provider: id, model: name }) => {
    const provider = parts.providers.get(id);
    return provider !== undefined &&
      textEndpointsOf(provider, name).some((endpoint) => canSearch({ model, provider, endpoint, name }));
  });
}

/** Whether every provider of the model speaks the message protocol. */
function passesMessages({ serves }: Model, { parts }: TextService): boolean {
  return serves.every(({ provider: id, model }) => {
    const provider = parts.providers.get(id);
    return provider !== undefined &&
      textEndpointsOf(provider, model).some(({ format }) => format.name === MESSAGE_FORMAT);
  });
}
