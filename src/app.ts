import { createAuthenticate } from "./billing/authenticate.ts";
import { type AccountsEnsured, ensureConfiguredAccounts } from "./billing/configured_accounts.ts";
import { createKeyRing } from "./billing/key_ring.ts";
import { createMeter } from "./billing/meter.ts";
import { cacheEngine } from "./cache_engine.ts";
import { createCatalog } from "./catalog/catalog.ts";
import type { Config } from "./config/config.ts";
import { createFrontDoor, type FrontDoor } from "./http/front_door.ts";
import { readJsonObject } from "./http/json_body.ts";
import { listen, type Listening } from "./http/listen.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { GatewayError } from "./lib/gateway_error.ts";
import type { Log } from "./lib/log.ts";
import { readCidr } from "./net/address.ts";
import { originOf } from "./net/http1/client.ts";
import { createMediaInliner } from "./net/media_inliner.ts";
import type { OwnAddress } from "./net/target.ts";
import { imageRoutes } from "./image_routes.ts";
import { joinRunners } from "./job_runners.ts";
import { renderDefaultError } from "./protocols/default/error.ts";
import { adminDeliveryRoutes } from "./protocols/admin/deliveries.ts";
import { adminRoutes } from "./protocols/admin/routes.ts";
import type { ReadJson } from "./protocols/admin/accounts.ts";
import { deliveryRoutes } from "./protocols/default/deliveries.ts";
import { createRouter } from "./router.ts";
import { ERROR_SECTIONS, routesOf } from "./routes.ts";
import { createCircuitBreaker } from "./routing/circuit_breaker.ts";
import type { EmbeddedStore } from "./store/embedded.ts";
import type { JobRunner } from "./store/jobs.ts";
import { openKvStore } from "./store/kv.ts";
import { createItemMemory } from "./texts/item_memory.ts";
import { createReasoningMemory } from "./texts/reasoning_memory.ts";
import { LiveStreams } from "./texts/relay.ts";
import { TextTurns } from "./texts/turn.ts";
import { openProviders } from "./upstreams/providers.ts";
import { videoEngine } from "./video_engine.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";

/** What an app is built from. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  /** Default the machine's. */
  readonly clock?: Clock;
  /** Uniform in [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}

/** Every part, joined and ready to answer; not listening yet. */
export interface App {
  /** Answers one request. */
  readonly handler: FrontDoor;
  readonly store: EmbeddedStore;
  /** Accounts and keys that came into being at this start. */
  readonly ensured: AccountsEnsured;
  /** No request that a caller or a vendor names an address for goes there. */
  addOwnAddress(address: OwnAddress): void;
  /**
   * Begins to do the jobs that are owed.
   *
   * @param address Where the gateway listens: what its own addresses start with unless the configuration says otherwise.
   */
  startJobs(address: string): JobRunner;
  /** From now on `/readyz` says no and answers ask callers to connect anew. */
  startDraining(): void;
  /** Ends open streams with an error event of their protocol. */
  abortStreams(): void;
  /** Makes every charge durable, then lets go of everything. */
  close(): Promise<void>;
}

/** Builds every part from a configuration and joins them. Throws what the store throws when it cannot be opened. */
export async function buildApp({ config, log, clock = systemClock, random = Math.random }: AppOptions): Promise<App> {
  const caCerts = config.egress.caFile === null ? [] : [await Deno.readTextFile(config.egress.caFile)];
  const store = await openStore(config.store, clock, log);
  const ensured = await ensureConfiguredAccounts(store, config.accounts);
  const keys = createKeyRing({ store, clock });
  const meter = createMeter({ store, clock, log });
  const catalog = createCatalog(config.models);
  const providers = openProviders(config.providers, { clock, caCerts });
  const own = ownAddressesOf(config);
  const egress = { allow: config.egress.allow.map(readCidr), own, caCertificates: caCerts, clock };
  const live = new LiveStreams();
  const breaker = createCircuitBreaker({ clock });
  const authenticate = createAuthenticate(keys);
  const turns = new TextTurns({
    catalog,
    providers: providers.byName,
    breaker,
    meter,
    clock,
    log,
    live,
    memory: createReasoningMemory(clock),
    items: createItemMemory(clock),
    inliner: createMediaInliner(egress),
    random,
  });
  const caches = await cacheEngine({ config, store, meter, authenticate, clock, log, texts: turns.parts });
  const { textBodyBytes, otherBodyBytes, bodyIdleMs: idleMs } = config.limits;
  const adminBody = { capBytes: otherBodyBytes, idleMs };
  let draining = false;
  let baseUrl = config.server.baseUrl ?? "";
  const { timeoutMs } = config.webhooks;
  const webhooks = createWebhooks({ store, clock, log, egress, timeoutMs, random });
  const videos = await videoEngine({
    config,
    store,
    catalog,
    providers: providers.byName,
    breaker,
    authenticate,
    egress,
    clock,
    log,
    random,
    baseUrl: () => baseUrl,
    onTerminal: webhooks.onTerminal,
  });
  const readJson: ReadJson = async (inbound) => (await readJsonObject(inbound.request, adminBody)).body;
  const { desk } = webhooks;
  const adminKey = config.server.adminKey ?? "";
  const routes = routesOf({
    catalog,
    turns,
    caches,
    videos: [...videos.routes, ...deliveryRoutes({ videos: videos.videos, desk, authenticate })],
    images: await imageRoutes({
      config,
      catalog,
      providers: providers.byName,
      breaker,
      meter,
      authenticate,
      egress,
      live,
      clock,
      log,
      random,
    }),
    authenticate,
    textBody: { capBytes: textBodyBytes, idleMs },
    isReady: async () => !draining && await store.ready(),
    admin: [
      ...adminRoutes({ adminKey, store, keys, meter, readJson }),
      ...adminDeliveryRoutes({ adminKey, desk, readJson }),
    ],
  });
  const router = createRouter(routes, { sections: ERROR_SECTIONS, renderError: renderDefaultError });
  return {
    handler: createFrontDoor({ router, log, clock, isDraining: () => draining }),
    store,
    ensured,
    addOwnAddress: (address) => void own.push(address),
    startJobs(address) {
      baseUrl ||= address;
      return joinRunners([videos.startJobs(), webhooks.startJobs(), caches.startJobs()]);
    },
    startDraining: () => void (draining = true),
    abortStreams: () => live.abortAll(),
    async close() {
      await meter.flush();
      providers.close();
      await store.close();
    },
  };
}

/** An app that listens. */
export interface RunningApp extends App {
  /** Where it is reached: `http://127.0.0.1:8787`. */
  readonly address: string;
  /** Stops accepting, lets open streams finish up to the configured grace, ends the rest with a word, closes. */
  stop(): Promise<void>;
}

/** Builds and listens. Throws what the store throws, and `Deno.errors.AddrInUse`. */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { config, log, clock = systemClock } = options;
  const app = await buildApp(options);
  let listening: Listening;
  try {
    listening = await listen({ host: config.server.host, port: config.server.port, handler: app.handler, log });
  } catch (error) {
    await app.close();
    throw error;
  }
  app.addOwnAddress({ host: listening.address, port: listening.port });
  const host = listening.address.includes(":") ? `[${listening.address}]` : listening.address;
  const address = `http://${host}:${listening.port}`;
  const jobs = app.startJobs(address);
  return {
    ...app,
    address,
    async stop() {
      app.startDraining();
      const { shutdownGraceMs } = config.server;
      const keepAbortTimer = clock.after(shutdownGraceMs, () => app.abortStreams());
      await Promise.all([listening.shutdown(shutdownGraceMs + LAST_WORD_MS), jobs.drain(shutdownGraceMs)]);
      keepAbortTimer();
      await app.close();
    },
  };
}

/** Time for the last event of an aborted stream to leave. */
const LAST_WORD_MS = 1_000;

/** Where the gateway is reached, as far as the configuration tells. */
function ownAddressesOf({ server }: Config): OwnAddress[] {
  if (server.baseUrl === null) return [];
  const { hostname: host, port } = originOf(new URL(server.baseUrl));
  return [{ host, port }];
}

async function openStore(address: string, clock: Clock, log: Log): Promise<EmbeddedStore> {
  const [engine, path] = [address.slice(0, address.indexOf(":")), address.slice(address.indexOf(":") + 1)];
  if (engine !== "kv") {
    throw new GatewayError("internal_error", `Cannot open the store: no engine is called "${engine}"`);
  }
  return await openKvStore({ path, clock, log });
}
