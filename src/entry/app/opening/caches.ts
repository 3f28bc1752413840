import { permittedCatalog } from "../../../vendors/catalog/permitted_catalog.ts";
import type { Authenticate } from "../../../money/billing/authenticate.ts";
import type { Meter } from "../../../money/billing/meter/meter.ts";
import type { CacheHits } from "../../../services/caches/cache_hits.ts";
import { type Caches, createCaches } from "../../../services/caches/caches.ts";
import type { Config } from "../../../config/config.ts";
import { SERVED_MODELS } from "../../../conversation/codecs/content/caller/served_models.ts";
import type { FileStore } from "../../../platform/files/files.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import type { RequestObserver } from "../../../platform/http/request/request_record.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { cachedContentRoutes } from "../../../protocols/content/cached_contents.ts";
import { createJobRunner, type JobRunner } from "../../../platform/store/job_runner.ts";
import type { JobStore, Store } from "../../../platform/store/store.ts";
import type { TextParts } from "../../../services/texts/plan/attempt.ts";
import { countAt } from "../../../services/texts/request/count_tokens.ts";
import { inlineMedia } from "../../../services/texts/plan/inline_media.ts";
import { textModel } from "../../../services/texts/request/text_model.ts";
import { countPromptTokens } from "../../../services/texts/plan/token_estimate.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const cacheHitsModule = new Late(() => import("../../../services/caches/cache_hits.ts"));

/** Options of {@linkcode createCacheFeature}. */
export interface CacheFeatureOptions {
  readonly config: Config;
  readonly store: Store;
  readonly meter: Meter;
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly log: Log;
  /** The media of cached contents. */
  readonly files: FileStore;
  /** The parts of the text service: caches look up models, count tokens and download media as it does. */
  readonly texts: TextParts;
}

/** Cached contents: their endpoints, their use by text requests, and their jobs. */
export interface CacheFeature {
  readonly caches: Caches;
  readonly routes: readonly Route[];
}

/** Builds cached contents, on the main thread and in threads for large requests alike. */
export function createCacheFeature(options: CacheFeatureOptions): CacheFeature {
  const { config, store, meter, authenticate, clock, log, files, texts } = options;
  const { catalog, providers, breaker, slots, mediaInliner: inliner, random } = texts;
  const caches = createCaches({
    store,
    vendorState: texts.vendorState,
    log,
    providers,
    breaker,
    ...slots && { slots },
    meter,
    clock,
    files,
    caps: config.limits.cachedContents,
    maxLifeMs: config.retention.cachedContentsMs,
    random,
    modelOf: (name, { limits, receivedAt }) =>
      textModel(permittedCatalog(catalog.at(receivedAt), limits), name, SERVED_MODELS),
    countHere: countPromptTokens,
    countAt: (serving, model, question) => countAt(serving, question, model, texts),
    inlined: (conversation, { text }, asker) =>
      inlineMedia(conversation, elementAt(text, 0).mustInline, inliner, asker),
  });
  const { textBodyBytes: capBytes, bodyIdleMs: idleMs } = config.limits;
  return {
    caches,
    routes: cachedContentRoutes({ caches, authenticate, bodyLimits: { capBytes, idleMs } }),
  };
}

/** Counts which cached contents requests use. */
export interface CountedHits {
  /** Counts the hit of a request that was charged. */
  readonly observe: RequestObserver;
  /** Writes what this thread has counted. */
  write(): Promise<void>;
  /** Writes what all threads have counted. */
  writeAll(): Promise<void>;
}

/**
 * Counts the hits of cached contents. The first hit loads the code.
 *
 * @param onRecordsRead Resolves when threads have sent the records that they hold.
 */
export function countHits(
  parts: Pick<CacheFeatureOptions, "store" | "clock" | "log">,
  onRecordsRead: readonly (() => Promise<void>)[],
): CountedHits {
  let loaded: Promise<CacheHits> | null = null;
  const load = async () => new (await cacheHitsModule.load()).CacheHits(parts);
  const write = async () => await (await loaded)?.flush();
  return {
    observe({ cacheId, tokens }) {
      if (cacheId !== undefined && tokens !== null) holdWork((loaded ??= load()).then((hits) => hits.count(cacheId)));
    },
    write,
    async writeAll() {
      await Promise.all(onRecordsRead.map((onRead) => onRead()));
      await write();
    },
  };
}

/**
 * Starts the jobs of cached contents. On the main thread only.
 *
 * @param current Gives the caches of the configuration in force.
 */
export function startCacheJobs(
  { store, clock, log }: Pick<CacheFeatureOptions, "clock" | "log"> & { readonly store: JobStore },
  current: () => Caches,
): JobRunner {
  const handlers: Caches["handlers"] = {
    cache_expire: (job, context) => current().handlers.cache_expire(job, context),
    cache_delete: (job, context) => current().handlers.cache_delete(job, context),
  };
  return createJobRunner({ store, clock, log, handlers, concurrency: current().concurrency });
}
