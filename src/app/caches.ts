import { content } from "../conversation/codecs/content/mod.ts";
import { join } from "node:path";
import type { Authenticate } from "../billing/authenticate.ts";
import type { Meter } from "../billing/meter.ts";
import { isCacheFileKept } from "../caches/read.ts";
import { type Caches, createCaches } from "../caches/caches.ts";
import type { Config } from "../config/config.ts";
import { openFileDirectory } from "../files/directory.ts";
import type { FileStore } from "../files/files.ts";
import type { Route } from "../http/inbound.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { cachedContentRoutes } from "../protocols/content/cached_contents.ts";
import { createJobRunner, type JobRunner } from "../store/job_runner.ts";
import type { Store } from "../store/store.ts";
import type { TextParts } from "../texts/attempt.ts";
import { countAt } from "../texts/count_tokens.ts";
import { withMediaInlined } from "../texts/inline_media.ts";
import { countPromptTokens } from "../texts/token_estimate.ts";
import { textModel } from "../texts/text_model.ts";

/** What cached contents share with the rest of an app. */
export interface CacheEngineParts {
  readonly config: Config;
  readonly store: Store;
  readonly meter: Meter;
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly log: Log;
  /** What turns are made with: caches find models, count and fetch as they do. */
  readonly texts: TextParts;
}

/** The cached-contents endpoints, what turns find caches by, and the jobs behind them. */
export interface CacheEngine {
  readonly caches: Caches;
  readonly routes: readonly Route[];
  /** Begins to run jobs. */
  startJobs(): JobRunner;
}

/** Builds cached contents. Files that an earlier process left half-written, or without a record, are removed first. */
export async function cacheEngine(parts: CacheEngineParts): Promise<CacheEngine> {
  const { store, clock, log } = parts;
  await filesOf(parts).removeLeftovers((name) => isCacheFileKept(store, name));
  const { caches, routes } = cacheFace(parts);
  return {
    caches,
    routes,
    startJobs: () => createJobRunner({ store, clock, log, handlers: caches.handlers, concurrency: caches.concurrency }),
  };
}

/** Builds cached contents and their endpoints over a store and a folder that another thread takes care of. */
export function cacheFace(parts: CacheEngineParts): Pick<CacheEngine, "caches" | "routes"> {
  const { config, store, meter, authenticate, clock, log, texts } = parts;
  const { catalog, providers, breaker, inliner, random } = texts;
  const caches = createCaches({
    store,
    vendorState: texts.vendorState,
    log,
    providers,
    breaker,
    meter,
    clock,
    files: filesOf(parts),
    caps: config.limits.cachedContents,
    maxLifeMs: config.retention.cachedContentsMs,
    random,
    modelOf: (name) => textModel(catalog, name, content.caller),
    countHere: countPromptTokens,
    countAt: (serving, model, question) => countAt(serving, question, model, texts),
    inlined: (conversation, { text: [endpoint] }, asker) =>
      withMediaInlined(conversation, endpoint.mustInline, inliner, asker),
  });
  const { textBodyBytes: capBytes, bodyIdleMs: idleMs } = config.limits;
  return { caches, routes: cachedContentRoutes({ caches, authenticate, bodyLimits: { capBytes, idleMs } }) };
}

function filesOf({ config }: CacheEngineParts): FileStore {
  return openFileDirectory(join(config.files, "caches"));
}
