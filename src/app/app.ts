import type { EnsuredAccounts } from "../billing/configured_accounts.ts";
import { type CacheEngine, cacheEngine } from "./caches.ts";
import type { Config } from "../config/config.ts";
import { type Foundation, layFoundation } from "./services.ts";
import { createFrontDoor, type FrontDoor } from "../http/front_door.ts";
import { listen, type Listening } from "../http/listen.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { MemoryBudget } from "../lib/memory_budget.ts";
import { createMediaInliner } from "../net/media_inliner.ts";
import { prepareFolder } from "../files/prepare_folder.ts";
import { asUnwritableError } from "../lib/unwritable.ts";
import type { OwnAddress } from "../net/target.ts";
import { imageRoutes } from "./images.ts";
import { joinRunners } from "./job_runners.ts";
import { withLargeBodies } from "../large_requests/large_route.ts";
import { LargeRequests } from "../large_requests/large_requests.ts";
import { modelListEngine } from "./model_lists.ts";
import { operatorRoutes } from "./admin.ts";
import { readinessHandler } from "./readiness.ts";
import { deliveryRoutes } from "../protocols/default/deliveries.ts";
import { createRouter, type Router } from "./router.ts";
import { addressOptions, routesOf } from "./routes.ts";
import { errorForCallerOf } from "./storage_error.ts";
import type { ModelLists } from "../routing/model_lists.ts";
import type { StoreEngine } from "../store/engine.ts";
import type { JobRunner } from "../store/job_runner.ts";
import { createStateOwnership } from "../ownership/state_ownership.ts";
import { BoundedMemory } from "../texts/bounded_memory.ts";
import { itemMemoryOver } from "../texts/item_memory.ts";
import { MissingCounters } from "../texts/missing_counters.ts";
import { type KeptReasoning, reasoningMemoryOver } from "../texts/reasoning_memory.ts";
import { TextService } from "../texts/text_service.ts";
import { type VideoEngine, videoEngine } from "./videos.ts";
import { startRetention } from "./retention.ts";
import { deliverySweep } from "../webhooks/retention.ts";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks.ts";

/** What an app is built from. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Log;
  /** Default the machine's. */
  readonly clock?: Clock;
  /** Uniform in [0, 1). Default `Math.random`. */
  readonly random?: () => number;
  /** Whether the store must be there already. Default false: it is made when it is missing. */
  readonly mustExist?: boolean;
}

/** Every part, joined and ready to answer; not listening yet. */
export interface App {
  /** Answers one request. */
  readonly handler: FrontDoor;
  readonly store: StoreEngine;
  /** How much memory requests hold, and how much they may. */
  readonly memory: Pick<MemoryBudget, "inUse" | "limitBytes">;
  /** Accounts and keys that came into being at this start. */
  readonly ensured: EnsuredAccounts;
  /** No request that a caller or a vendor names an address for goes there. */
  addOwnAddress(address: OwnAddress): void;
  /**
   * Begins to do the jobs that are owed.
   *
   * @param address Where the gateway listens: what its own addresses start with unless the configuration says
   * otherwise.
   */
  startJobs(address: string): JobRunner;
  /** From now on `/readyz` says no and answers ask callers to connect anew. Streams of videos' events end. */
  startDraining(): void;
  /** Ends open streams with an error event of their protocol. */
  abortStreams(): void;
  /** Makes every charge durable, then lets go of everything. */
  close(): Promise<void>;
}

/** Builds every part from a configuration and joins them. Throws what the store throws when it cannot be opened. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { config, log, clock = systemClock, random = Math.random, mustExist } = options;
  const foundation = await layFoundation({ config, log, clock, random, mustExist });
  const present: Present = { isDraining: false, baseUrl: config.server.baseUrl ?? "" };
  const { engines, router } = await openDoors(foundation, present);
  return {
    handler: createFrontDoor({
      router,
      log,
      clock,
      memory: foundation.memory,
      errorOf: errorForCallerOf,
      isDraining: () => present.isDraining,
    }),
    memory: foundation.memory,
    store: foundation.store,
    ensured: foundation.ensured,
    addOwnAddress(address) {
      foundation.own.push(address);
      engines.large.addOwnAddress(address);
    },
    startJobs(address) {
      present.baseUrl ||= address;
      const { videos, webhooks, caches } = engines;
      const sweeps = [...videos.sweeps, deliverySweep(foundation.store, config.retention.deliveriesMs)];
      engines.modelLists.start();
      return joinRunners([
        videos.startJobs(),
        webhooks.startJobs(),
        caches.startJobs(),
        startRetention({ ...foundation, sweeps }),
      ]);
    },
    startDraining() {
      present.isDraining = true;
      engines.videos.videos.endEvents();
    },
    abortStreams: () => foundation.live.abortAll(),
    async close() {
      await engines.modelLists.close();
      await engines.large.close();
      await foundation.close();
    },
  };
}

/** What is left of an earlier process in the files folder is removed on the way, so the folder must be writable. */
async function openDoors(foundation: Foundation, present: Present): Promise<{ engines: Engines; router: Router }> {
  try {
    const engines = await openEngines(foundation, present);
    return { engines, router: await routerOf(foundation, engines, present) };
  } catch (error) {
    await foundation.close();
    throw asUnwritableError("files", foundation.config.files, error);
  }
}

/** What is known only while the app runs. */
interface Present {
  isDraining: boolean;
  /** What the gateway's own addresses start with; empty until it listens, unless it is configured. */
  baseUrl: string;
}

/** What carries out the work. */
interface Engines {
  readonly turns: TextService;
  readonly large: LargeRequests;
  readonly modelLists: ModelLists;
  readonly caches: CacheEngine;
  readonly webhooks: Webhooks;
  readonly videos: VideoEngine;
}

async function openEngines(foundation: Foundation, present: Present): Promise<Engines> {
  const { config, clock, egress } = foundation;
  const reasoning = new BoundedMemory<KeptReasoning>(clock);
  const items = new BoundedMemory<string>(clock);
  const turns = new TextService({
    ...foundation,
    memory: reasoningMemoryOver(reasoning),
    items: itemMemoryOver(items),
    vendorState: createStateOwnership(foundation),
    inliner: createMediaInliner(egress),
    missingCounters: new MissingCounters(clock),
  });
  const caches = await cacheEngine({ ...foundation, texts: turns.parts });
  const webhooks = createWebhooks({ ...foundation, timeoutMs: config.webhooks.timeoutMs });
  const { onTerminal, onRemoval, isOwed } = webhooks;
  const videos = await videoEngine({ ...foundation, baseUrl: () => present.baseUrl, onTerminal, onRemoval, isOwed });
  const entry = new URL("./large_request_thread.ts", import.meta.url);
  const large = new LargeRequests({ ...foundation, entry, reasoning, items });
  const modelLists = modelListEngine({
    ...foundation,
    onChange(models) {
      foundation.catalog.replaceDiscovered(models);
      large.setDiscovered(models);
    },
  });
  await modelLists.open();
  return { turns, large, modelLists, caches, webhooks, videos };
}

async function routerOf(foundation: Foundation, engines: Engines, present: Present): Promise<Router> {
  const { config, catalog, authenticate, store, breaker } = foundation;
  const { turns, large, caches, webhooks, videos: { routes, videos, signingKeys } } = engines;
  const limits = { capBytes: config.limits.textBodyBytes, idleMs: config.limits.bodyIdleMs };
  const table = routesOf({
    catalog,
    turns,
    caches,
    videos: [...routes, ...deliveryRoutes({ videos, desk: webhooks.desk, authenticate })],
    images: await imageRoutes(foundation),
    authenticate,
    textBody: limits,
    readiness: readinessHandler({
      isReady: async () => !present.isDraining && await store.isReady(),
      reason: () => present.isDraining ? "the process is about to end" : store.writeGuard.failure,
      providers: Object.keys(config.providers),
      breaker,
      filesUsage: engines.videos.filesUsage,
    }),
    admin: operatorRoutes(foundation, { webhooks, signingKeys, baseUrl: () => present.baseUrl }),
  });
  const largeBodies = { large, authenticate, limits, largeBytes: config.limits.largeBodyBytes };
  return createRouter(table.map((route) => withLargeBodies(route, largeBodies)), addressOptions(() => present.baseUrl));
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
  await prepareFiles(config.files, log);
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
  await app.store.publishAddress(address).catch((error) => {
    log.warn("address_unpublished", { address, reason: error instanceof Error ? error.name : typeof error });
  });
  return {
    ...app,
    address,
    async stop() {
      app.startDraining();
      await app.store.publishAddress(null).catch(() => {}); // a full disk must not keep it from stopping
      const { shutdownGraceMs } = config.server;
      const keepAbortTimer = clock.after(shutdownGraceMs, () => app.abortStreams());
      await Promise.all([listening.shutdown(shutdownGraceMs + LAST_WORD_MS), jobs.drain(shutdownGraceMs)]);
      keepAbortTimer();
      await app.close();
    },
  };
}

/** Throws {@linkcode UnwritableError} that names the setting when nothing can be kept there. */
async function prepareFiles(path: string, log: Log): Promise<void> {
  try {
    await prepareFolder(path, log);
  } catch (error) {
    throw asUnwritableError("files", path, error);
  }
}

/** Time for the last event of an aborted stream to leave. */
const LAST_WORD_MS = 1_000;
