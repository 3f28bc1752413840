import type { JobHandler } from "../../platform/store/job_runner.ts";
import type { CacheParts } from "./cache_parts.ts";
import type { CachedContent } from "./cached_content.ts";
import type { CachePatch } from "./change.ts";
import type { CacheCall, CreatedCache } from "./create.ts";
import type { CacheDryRun } from "./dry_run.ts";
import { deleteHandler, expireHandler } from "./expire.ts";
import { type CachePage, listCaches, readUsableCache } from "./read.ts";
import type { CacheJobKind } from "./records.ts";
import { type CacheReference, type NamedCache, resolveReference } from "./reference.ts";
import { Late } from "../../platform/lib/process/late.ts";

const createModule = new Late(() => import("./create.ts"));
const dryRunModule = new Late(() => import("./dry_run.ts"));
const changeModule = new Late(() => import("./change.ts"));

/** The operations on cached contents, for the endpoints and the job runner. */
export interface Caches {
  /** See {@linkcode createCache}. */
  create(call: CacheCall): Promise<CreatedCache>;
  /** See {@linkcode dryRunCache}. */
  dryRun(call: CacheCall): Promise<CacheDryRun>;
  /** The cache with that name. Throws `not_found` and `permission_denied`. */
  read(keyId: string, name: string): Promise<CachedContent>;
  /** See {@linkcode listCaches}. */
  list(keyId: string, after: string | null, most: number): Promise<CachePage>;
  /** See {@linkcode patchCache}. */
  patch(patch: CachePatch): Promise<CachedContent>;
  /** See {@linkcode deleteCache}. */
  remove(keyId: string, name: string): Promise<void>;
  /** See {@linkcode resolveReference}. */
  resolve(named: NamedCache): Promise<CacheReference>;
  readonly handlers: Readonly<Record<CacheJobKind, JobHandler>>;
  readonly concurrency: Readonly<Record<CacheJobKind, number>>;
}

/** Creates the operations. Those that need the codec of contents load it with the first request. */
export function createCaches(parts: CacheParts): Caches {
  return {
    create: async (call) => await (await createModule.load()).createCache(parts, call),
    dryRun: async (call) => (await dryRunModule.load()).dryRunCache(parts, call),
    read: async (keyId, name) => (await readUsableCache(parts.store, keyId, name)).value,
    list: (keyId, after, most) => listCaches(parts.store, keyId, after, most),
    patch: async (patch) => await (await changeModule.load()).patchCache(parts, patch),
    remove: async (keyId, name) => await (await changeModule.load()).deleteCache(parts, keyId, name),
    resolve: (named) => resolveReference(parts, named),
    handlers: { cache_expire: expireHandler(parts), cache_delete: deleteHandler(parts) },
    concurrency: { cache_expire: 16, cache_delete: 16 },
  };
}
