import {
  type ListedStep,
  MAX_STEPS,
  NO_LISTED,
  withDiscovered,
  withStep,
} from "../../../vendors/catalog/listed_step.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import type { PriceBook } from "../../../vendors/catalog/sourced_model.ts";
import type { Config } from "../../../config/config.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import type { RequestRouter } from "../../../platform/http/request_handler.ts";
import type { Isolates } from "../../../threads/serving/isolates.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import type { ModelLists } from "../../../vendors/routing/model_lists.ts";
import type { JobRunner } from "../../../platform/store/job_runner.ts";
import { deliverySweep } from "../../../services/webhooks/retention.ts";
import { startCacheJobs } from "../opening/caches.ts";
import type { ChangedGateway, ConfigChanges } from "../operators/config_changes.ts";
import { limitsByProvider } from "../../../vendors/upstreams/settings/provider_limits.ts";
import { openConfiguredParts } from "../opening/configured_parts.ts";
import { hasConsole } from "../features/console.ts";
import { createFeatures, createLastingFeatures, type Features, type GatewayState } from "../features/features.ts";
import { joinRunners, startedRunner } from "../jobs/job_runners.ts";
import { createConfiguredModelLists, hasSameModelLists } from "../jobs/model_lists.ts";
import type { OwnedServices } from "../opening/own.ts";
import { startRetention } from "../jobs/retention.ts";
import type { PriceSource } from "../jobs/price_source.ts";
import type { StartedConfig } from "../opening/start_config.ts";
import { currentRouter } from "../routing/router.ts";
import { createGatewayRouters, type GatewayRouters } from "../routes/routes.ts";
import { inTurn } from "../../../platform/lib/collections/in_turn.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const priceSourceModule = new Late(() => import("../jobs/price_source.ts"));
const notificationsModule = new Late(() => import("../jobs/notifications.ts"));
const followedChangesModule = new Late(() => import("./followed_changes.ts"));
const repricedModule = new Late(() => import("../../../vendors/catalog/repriced.ts"));

/** Everything that follows from one configuration. A request uses the one that was in force when it began. */
interface Generation {
  readonly services: OwnedServices;
  readonly features: Features;
  readonly routers: GatewayRouters;
  readonly lists: DiscoveredLists;
}

/** The lists of vendors' models, the models found so far, and those with prices of the price source. */
interface DiscoveredLists {
  readonly lists: ModelLists;
  models: readonly Model[];
  listed: readonly ListedStep[];
}

/** Prices of the price source, from a moment on in Unix milliseconds. */
interface PriceStep {
  readonly from: number;
  readonly book: PriceBook;
}

/** The endpoints and jobs of a gateway, whose configuration can be replaced while it runs. */
export class LiveGateway {
  /** The endpoints of the configuration in force. */
  readonly router: RequestRouter;
  /** Loads the changes of the configuration, once; null if it is not changed while the gateway runs. */
  readonly configChanges: (() => Promise<ConfigChanges>) | null;
  /** Those at `server.admin_listen`; null if there is no such address. */
  readonly adminRouter: RequestRouter | null;
  /** The threads that accept connections; null if the main thread does. */
  isolates: Isolates | null = null;
  #current: Generation;
  #isStarted = false;
  /** Null without a price source. */
  prices: PriceSource | null = null;
  #priceSteps: readonly PriceStep[] = [{ from: -Infinity, book: {} }];
  /** Prices and configurations take effect one after the other. */
  readonly #inTurn = inTurn();
  readonly #state: GatewayState;

  /** Builds everything for the configuration of the services. No job or thread starts yet. */
  constructor(services: OwnedServices, state: GatewayState) {
    this.#state = state;
    this.configChanges = services.started && loadingOnce(this, services.started);
    const lasting = createLastingFeatures(services, state, () => this.#current ?? null);
    this.#current = this.#generationOf(services, createFeatures(services, lasting), this.#listsFor(services));
    this.router = currentRouter(() => this.#current.routers.main);
    const hasAdminAddress = this.#current.routers.admin !== null;
    // An address to listen on is changed only by a restart.
    this.adminRouter = hasAdminAddress
      ? currentRouter(() => this.#current.routers.admin ?? this.#current.routers.main)
      : null;
  }

  /** The services, with the configuration in force. */
  get services(): OwnedServices {
    return this.#current.services;
  }

  /** The features, with those of the configuration in force. */
  get features(): Features {
    return this.#current.features;
  }

  /** The models that providers list now, and those with prices of the price source. */
  get listed(): readonly ListedStep[] {
    return this.#current.lists.listed;
  }

  /** Loads the stored prices of the price source and the stored lists of vendors' models. */
  async open(): Promise<void> {
    const { services, lists } = this.#current;
    if (!services.config.prices.isBuiltIn) {
      const { createPriceSource } = await priceSourceModule.load();
      const usePrices = (book: PriceBook, from: number) => this.#inTurn(() => this.#usePrices({ book, from }));
      this.prices = createPriceSource(services, () => this.#current.services, usePrices);
      await this.prices.feed.follow();
    }
    await lists.lists.open();
  }

  /** Starts the jobs and the reading of vendors' lists. Called once, after the gateway listens. */
  startJobs(): JobRunner {
    const { services, features: { videos, webhooks, console } } = this.#current;
    const { store, clock, log, usageRollup, roles, config: { retention } } = services;
    this.#isStarted = true;
    this.#current.lists.lists.start();
    if (roles.works) this.prices?.schedule.start();
    if (hasConsole(services.config)) holdWork(console.history.load());
    const files = new Late(async () => {
      const { storedFileSweep } = await import("../../../services/stored_files/retention.ts");
      return storedFileSweep({ store, files: services.files.results, log });
    });
    const { batches } = this.#current.features;
    const sweeps = [
      ...videos.sweeps,
      async () => await (await files.load())(),
      async () => await (await batches.load()).sweep(),
      deliverySweep(store, retention.deliveriesMs),
    ];
    const isShared = storeAddressOf(services.config.store).engine === "postgres";
    const current = () => this.#current.services;
    const notifying = this.#notify(services, current);
    const following = isShared ? [this.#followOthers()] : [];
    if (!roles.works) return joinRunners([...following, notifying]);
    return joinRunners([
      ...following,
      notifying,
      videos.startJobs(),
      this.#startBatches(),
      webhooks.startJobs(),
      startCacheJobs(services, () => this.#current.features.caches.caches),
      usageRollup.start(),
      startRetention({ store, clock, log, sweeps }),
    ]);
  }

  /**
   * Replaces the configuration. Everything that can fail is opened first; then one assignment puts it in force.
   * Requests under way finish with the configuration that they began with.
   *
   * @param beforeSwap The last step that can fail. It runs when everything is open.
   * @throws What {@linkcode openConfiguredParts} and `beforeSwap` throw. Nothing has changed then.
   */
  replace(config: Config, beforeSwap: () => Promise<void>): Promise<void> {
    return this.#inTurn(() => this.#replace(config, beforeSwap));
  }

  async #replace(config: Config, beforeSwap: () => Promise<void>): Promise<void> {
    const before = this.#current;
    const { clock, ownAddresses, otherAnswers: { note: onOtherAnswer } } = before.services;
    const parts = await openConfiguredParts(config, { clock, ownAddresses, onOtherAnswer, previous: before.services });
    const services = { ...before.services, ...parts };
    let lists = before.lists;
    try {
      if (!hasSameModelLists(services, before.services)) {
        lists = this.#listsFor(services);
        await lists.lists.open();
      }
      const listed = await this.#listedFor(config, lists);
      const next = this.#generationOf(services, createFeatures(services, before.features), lists);
      await beforeSwap();
      // Read here, since a list can have been read in the meantime.
      lists.listed = withDiscovered(listed, lists.models);
      services.catalog.replaceListed(lists.listed);
      this.#swap(before, next);
      await this.isolates?.changesApplied;
    } catch (error) {
      if (lists !== before.lists) await lists.lists.close();
      parts.openedProviders.close(before.services.openedProviders);
      throw error;
    }
  }

  /** Stops reading vendors' lists, ends the threads, and closes the connections to vendors. */
  async close(): Promise<void> {
    const { features, lists, services } = this.#current;
    await this.prices?.schedule.close();
    await lists.lists.close();
    await features.large.close();
    await features.storeReplies();
    await features.console.close();
    services.openedProviders.close();
  }

  /**
   * Their code is loaded after the start, and not with the first failure: Deno ends the process if it imports a module
   * while no descriptor is free, which is when many attempts fail.
   */
  #notify(services: OwnedServices, current: () => OwnedServices): JobRunner {
    const { serves, works } = services.roles;
    return startedRunner({
      name: "notifications",
      load: notificationsModule.load,
      start: ({ startNotifications, watchProviders }) =>
        joinRunners([
          ...serves ? [watchProviders(services, current)] : [],
          ...works ? [startNotifications(services, current)] : [],
        ]),
    }, services);
  }

  /** Their code is loaded after the start, as an earlier process may have left open batches. */
  #startBatches(): JobRunner {
    const { features: { batches }, services } = this.#current;
    return startedRunner({ name: "batches", load: batches.load, start: (code) => code.startJobs() }, services);
  }

  /** Loaded only with a store that other gateways change. */
  #followOthers(): JobRunner {
    const { store, clock, log, signingKeys } = this.#current.services;
    const forgetReplies = (account: string) => void this.#current.features.forgetReplies(account);
    const followPrices = async () => await this.prices?.feed.follow();
    const parts = { store, clock, log, signingKeys, forgetReplies, configChanges: this.configChanges, followPrices };
    return startedRunner({
      name: "followed_changes",
      load: followedChangesModule.load,
      start: ({ followChanges }) => followChanges(parts),
    }, parts);
  }

  #swap(before: Generation, next: Generation): void {
    const { breaker, credentials, slots, config, providers, openedProviders, openCallLimit } = next.services;
    this.#current = next;
    next.features.videos.onProviders(providers);
    next.features.console.restartStreams();
    next.features.large.facts.setConfig(config, next.lists.listed);
    this.isolates?.setConfig(config, next.lists.listed);
    credentials.replaceProviders(providers);
    openCallLimit.perAccount = config.limits.accountConcurrency;
    slots.setLimits(limitsByProvider(config.providers));
    for (const [name, provider] of before.services.providers) {
      if (providers.get(name) !== provider) breaker.forget(name);
    }
    before.services.openedProviders.close(openedProviders);
    if (next.lists === before.lists) return;
    holdWork(before.lists.lists.close());
    if (this.#isStarted) next.lists.lists.start();
  }

  #generationOf(services: OwnedServices, features: Features, lists: DiscoveredLists): Generation {
    const gatewayState = {
      state: this.#state,
      configChanges: this.configChanges,
      prices: () => this.prices?.feed ?? null,
    };
    return { services, features, routers: createGatewayRouters(services, features, gatewayState), lists };
  }

  #listsFor(services: OwnedServices): DiscoveredLists {
    const lists: DiscoveredLists = {
      models: [],
      listed: NO_LISTED,
      lists: createConfiguredModelLists(services, this.#priceSteps.at(-1)?.book ?? {}, (models) => {
        lists.models = models;
        lists.listed = withDiscovered(lists.listed, models);
        this.#publish(lists);
      }),
    };
    return lists;
  }

  /** The steps of a configuration: its built-in models with the prices of the price source. */
  async #listedFor({ builtInIds }: Config, { models: discovered }: DiscoveredLists): Promise<readonly ListedStep[]> {
    if (this.prices === null) return withDiscovered(NO_LISTED, discovered);
    const { repricedModels } = await repricedModule.load();
    return await Promise.all(
      this.#priceSteps.map(async ({ from, book }) => ({
        from,
        discovered,
        repriced: await repricedModels(builtInIds, book),
      })),
    );
  }

  async #usePrices(step: PriceStep): Promise<void> {
    const { services: { config: { builtInIds } }, lists } = this.#current;
    const { repricedModels } = await repricedModule.load();
    const repriced = await repricedModels(builtInIds, step.book);
    lists.models = await lists.lists.setPrices(step.book);
    this.#priceSteps = [...this.#priceSteps.filter(({ from }) => from < step.from), step].slice(-MAX_STEPS);
    lists.listed = withStep(lists.listed, { from: step.from, discovered: lists.models, repriced });
    this.#publish(lists);
  }

  /** Gives listed models to all threads, unless the lists belong to another configuration. */
  #publish(lists: DiscoveredLists): void {
    if (this.#current?.lists !== lists) return;
    this.#current.services.catalog.replaceListed(lists.listed);
    this.#current.features.large.facts.setListed(lists.listed);
    this.isolates?.facts.setListed(lists.listed);
  }
}

/** Most gateways never change their configuration, so the code is loaded for the first change. */
function loadingOnce(gateway: ChangedGateway, started: StartedConfig): () => Promise<ConfigChanges> {
  return new Late(async () => new (await import("../operators/config_changes.ts")).ConfigChanges(gateway, started))
    .load;
}
