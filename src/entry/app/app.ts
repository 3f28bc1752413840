import type { EnsuredAccounts } from "../../money/billing/declared/configured_accounts.ts";
import { DOCUMENTATION_ROOT } from "../../platform/endpoints/service.ts";
import { accessLog } from "../../platform/http/access_log.ts";
import { observeAll, type RequestObserver } from "../../platform/http/request/request_record.ts";
import { createRequestHandler, type RequestHandler, type RequestRouter } from "../../platform/http/request_handler.ts";
import { type AddressSettings, asListenError, SERVER_ADDRESS } from "../../platform/http/listen_error.ts";
import { listen, type Listening, type ListenOptions, urlOf } from "../../platform/http/listen.ts";
import type { IsolatesOptions } from "../../threads/serving/isolates.ts";
import type { RelayedOrigin } from "./threads/isolates.ts";
import { systemClock } from "../../platform/lib/basics/clock.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import { errorName, type Log, logWritten } from "../../platform/lib/basics/log.ts";
import type { ListenAddress } from "../../config/sections/server_section.ts";
import type { MemoryBudget } from "../../platform/lib/process/memory_budget.ts";
import { readCidr } from "../../platform/net/address.ts";
import type { StoreEngine } from "../../platform/store/engine.ts";
import type { ConfigChanges } from "./operators/config_changes.ts";
import { DescriptorPressure } from "./descriptor_pressure.ts";
import type { GatewayState } from "./features/features.ts";
import { LiveGateway } from "./gateway/live_gateway.ts";
import { logStreamFailures } from "./opening/log_stream_failures.ts";
import { own, type OwnedServices } from "./opening/own.ts";
import { openServices, type ServiceOptions, type Services } from "./opening/services.ts";
import { toCallerError } from "./opening/storage_error.ts";
import { Late } from "../../platform/lib/process/late.ts";

const isolatesModule = new Late(() => import("./threads/isolates.ts"));

/** A gateway that is built and does not listen yet. */
export interface App {
  /** Answers one request. */
  readonly handler: RequestHandler;
  /**
   * Listens, then starts the jobs and sweeps.
   *
   * @throws {ListenError} If an address cannot be used, such as one that another process has. The services stay open.
   */
  start(): Promise<RunningApp>;
}

/** A gateway that listens. */
export interface RunningApp {
  /** Its address without a final slash: `http://127.0.0.1:8787`. */
  readonly address: string;
  /** The address of the admin API, which may be the same. */
  readonly adminAddress: string;
  readonly store: StoreEngine;
  /** The memory that requests hold, and the limit. */
  readonly memory: Pick<MemoryBudget, "inUse" | "limitBytes">;
  /** The configured accounts and keys that this start created. */
  readonly createdAccounts: EnsuredAccounts;
  /** Loads the changes of the configuration; null if it is not changed while the gateway runs. */
  readonly configChanges: (() => Promise<ConfigChanges>) | null;
  /** Creates a link that signs in to the console once, as an operator; null if there is none to sign in to. */
  createConsoleLink(): Promise<string | null>;
  /** Ends all open streams, and calls without a response, with an error of the caller's protocol. */
  abortStreams(): void;
  /**
   * Stops accepting requests, gives streams and calls `server.shutdown_grace` to end, aborts the others, and closes
   * the services.
   */
  stop(): Promise<void>;
}

/**
 * Opens the services, takes ownership of the store, and starts the gateway.
 *
 * @throws What {@linkcode openServices}, {@linkcode own} and {@linkcode App.start} throw. Everything is closed then.
 */
export async function startApp(options: ServiceOptions): Promise<RunningApp> {
  let services: Services = await openServices(options);
  try {
    const owned = await own(services);
    services = owned;
    return await createApp(owned).start();
  } catch (error) {
    await services.close();
    throw error;
  }
}

/** Builds the endpoints and jobs over the services. */
export function createApp(services: OwnedServices): App {
  const { config, log, clock, memory, requestLog, tracing, counts, countsRequests } = services;
  const state: GatewayState = {
    isDraining: false,
    baseUrl: config.server.baseUrl ?? "",
    peerUrl: config.server.peerUrl,
  };
  const gateway = new LiveGateway(services, state);
  const observer = observeAll([
    accessLog(log, clock),
    ...countsRequests ? [counts.requests.observe] : [],
    services.cacheHits.observe,
    ...requestLog === null ? [] : [requestLog.observe],
    ...tracing === null ? [] : [tracing.observerOf(() => gateway.services.config.providers)],
  ]);
  // Spans are made from whole records.
  const writtenObserver: WrittenObserver | null = tracing !== null ? null : ({ lines, counts, rows }) => {
    logWritten(log, "request", lines.split("\n"));
    if (counts !== null) services.counts.requests.add(counts);
    if (rows !== null) requestLog?.observeRows(rows);
  };
  const handlerOf: HandlerOf = (router, origin = {}) =>
    createRequestHandler({
      router,
      log,
      clock,
      memory,
      errorOf: toCallerError,
      isDraining: () => state.isDraining,
      trustedProxies: config.server.trustedProxies.map(readCidr),
      traceOf: tracing?.traceOf ?? null,
      docsUrl: () => config.server.docsUrl ?? state.baseUrl + DOCUMENTATION_ROOT,
      observer,
      ...origin,
    });
  const handler = handlerOf(gateway.router);
  const adminHandler = gateway.adminRouter === null ? null : handlerOf(gateway.adminRouter);
  return {
    handler,
    start: () => start(services, gateway, { handler, adminHandler, handlerOf, observer, writtenObserver }, state),
  };
}

/** Addresses on which all of a host is listened to. */
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

async function start(
  services: OwnedServices,
  gateway: LiveGateway,
  { handler, adminHandler, handlerOf, observer, writtenObserver }: Handlers,
  state: GatewayState,
): Promise<RunningApp> {
  const { config: { server }, log, clock, store, memory, createdAccounts, openStreams } = services;
  await gateway.open();
  const changed = afterChanges(gateway);
  const isolated = server.isolates === 1 || !services.roles.serves
    ? null
    : await (await isolatesModule.load()).listenByIsolates(services, {
      gateway,
      handlerOf: (origin) => changed(handlerOf(gateway.router, origin)),
      observer,
      writtenObserver,
    });
  const listening = isolated ??
    await listenAt(server, SERVER_ADDRESS, { host: server.host, port: server.port, handler, log });
  const adminOwn = adminHandler === null ? null : changed(adminHandler);
  const adminListening = await listenForAdmin(server.adminListen, adminOwn, log).catch(async (error) => {
    await listening.shutdown(0);
    throw error;
  });
  for (const { address: host, port } of adminListening === null ? [listening] : [listening, adminListening]) {
    services.ownAddresses.push({ host, port });
    gateway.features.large.facts.addOwnAddress({ host, port });
    gateway.isolates?.facts.addOwnAddress({ host, port });
  }
  const address = urlOf(listening);
  const adminAddress = adminListening === null ? address : urlOf(adminListening);
  state.baseUrl ||= address;
  // An address that stands for all of this host leads nowhere on another one.
  if (!WILDCARDS.has(listening.address)) state.peerUrl ??= address;
  const jobs = gateway.startJobs();
  const endStreamLog = logStreamFailures(log);
  const abortStreams = () => {
    openStreams.abortForStop();
    gateway.features.large.abortForStop();
    gateway.isolates?.abortForStop();
  };
  services.counts.loopLag.start();
  const listeners = adminListening === null ? [listening] : [listening, adminListening];
  const descriptors = new DescriptorPressure({
    clock: systemClock, // descriptors are those of the process, also where tests set the clock
    log,
    onTight(isTight) {
      for (const listener of listeners) listener.setClosing(isTight);
      gateway.features.large.keepSpare(isTight);
    },
    shed: () => listeners.map((listener) => listener.renew()).some(Boolean),
  });
  holdWork(descriptors.start());
  await store.publishAddress(adminAddress).catch((error) => {
    log.warn("address_unpublished", {
      address: adminAddress,
      reason: errorName(error),
    });
  });
  return {
    address,
    adminAddress,
    store,
    memory,
    createdAccounts,
    configChanges: gateway.configChanges,
    createConsoleLink: () =>
      gateway.features.console.createLink({ config: gateway.services.config, address: adminAddress }),
    abortStreams,
    async stop() {
      state.isDraining = true;
      services.counts.loopLag.stop();
      descriptors.stop();
      gateway.features.videos.videos.endEvents();
      gateway.features.console.endStreams();
      await store.publishAddress(null).catch(() => {}); // A full disk does not prevent the stop.
      const { shutdownGraceMs } = server;
      const cancelAbort = clock.after(shutdownGraceMs, abortStreams);
      await Promise.all([
        listening.shutdown(shutdownGraceMs + ABORT_FLUSH_MS),
        adminListening?.shutdown(shutdownGraceMs + ABORT_FLUSH_MS),
        jobs.drain(shutdownGraceMs),
        openStreams.detached.drain(shutdownGraceMs + ABORT_FLUSH_MS, clock),
      ]);
      cancelAbort();
      openStreams.departures.finish();
      endStreamLog();
      await gateway.close();
      await services.close();
    },
  };
}

type HandlerOf = (router: RequestRouter, origin?: RelayedOrigin) => RequestHandler;

interface Handlers {
  readonly handler: RequestHandler;
  /** Of the admin address; null if there is none. */
  readonly adminHandler: RequestHandler | null;
  readonly handlerOf: HandlerOf;
  readonly observer: RequestObserver;
  /** Null if the observer needs whole records. */
  readonly writtenObserver: WrittenObserver | null;
}

type WrittenObserver = NonNullable<IsolatesOptions["writtenObserver"]>;

/** Answers when all isolates apply the changes that a request has made, such as the revocation of a key. */
function afterChanges(gateway: LiveGateway): (handler: RequestHandler) => RequestHandler {
  return (handler) => async (request, info) => {
    const response = await handler(request, info);
    await gateway.isolates?.changesApplied;
    return response;
  };
}

/** Time for the error events of aborted streams to reach their callers. */
const ABORT_FLUSH_MS = 1_000;

const ADMIN_SETTING = "server.admin_listen";

/** As {@linkcode listen}. An error names the setting. */
async function listenAt(at: ListenAddress, settings: AddressSettings, options: ListenOptions): Promise<Listening> {
  try {
    return await listen(options);
  } catch (error) {
    throw asListenError(at, settings, error);
  }
}

/** Listens at `server.admin_listen`; null if there is no such address. */
async function listenForAdmin(
  at: ListenAddress | null,
  handler: RequestHandler | null,
  log: Log,
): Promise<Listening | null> {
  if (at === null || handler === null) return null;
  const settings = { host: ADMIN_SETTING, port: ADMIN_SETTING };
  return await listenAt(at, settings, { ...at, handler, log });
}
