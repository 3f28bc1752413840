import { join } from "node:path";
import type { Config } from "../../../config/config.ts";
import type { BucketConfig } from "../../../config/sections/storage_sections.ts";
import { openFileDirectory } from "../../../platform/files/directory.ts";
import type { FileStore } from "../../../platform/files/files.ts";
import { DiskQuota } from "../../../platform/files/quota.ts";
import type { BucketNetwork } from "../../../platform/files/s3/open.ts";
import { createSpool, type Spool } from "../../../platform/files/spool.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { ThreadUploads } from "../../../threads/serving/isolate.ts";
import { freeSpaceAt } from "../../../platform/store/free_space.ts";

/** The folders of files, each with one user. */
export interface FileStores {
  /** Copies of video results, and media that requests for videos carry; in `files` itself, a folder or a bucket. */
  readonly results: FileStore;
  /** The space of `results`. It counts the files that exist once `results` is tidied. */
  readonly quota: DiskQuota;
  /** Media of cached contents; in `caches` of the folder or the bucket. */
  readonly caches: FileStore;
  /** Model lists of providers; in `model-lists`. */
  readonly modelLists: FileStore;
  /** Uploads of requests under way; in `uploads`. */
  readonly uploads: Spool;
}

/** Opens the folders. Nothing is read or written; a folder is created by its first write. */
export function openFileStores(
  { files, bucket, limits }: Pick<Config, "files" | "bucket" | "limits">,
  log: Log,
  network: BucketNetwork,
): FileStores {
  const { filesQuotaBytes: quotaBytes, minFreeDiskBytes } = limits;
  // Results on a disk stop at twice the free space below which paid work is refused.
  const disk = { freeBytes: freeSpaceAt([files]), spareBytes: 2 * minFreeDiskBytes };
  const quota = new DiskQuota({ quotaBytes, log, ...(bucket === null ? disk : {}) });
  return {
    results: bucket === null ? openFileDirectory(files, quota) : bucketFiles(bucket, { network, quota, log }),
    quota,
    caches: openCacheFiles({ files, bucket }, log, network),
    modelLists: openFileDirectory(join(files, "model-lists")),
    uploads: createSpool(uploadsIn(files)),
  };
}

/** The folders of the uploads of threads. Each has a separate one, so that what it leaves can be removed. */
export function threadUploads({ files }: Pick<Config, "files">): ThreadUploads {
  return {
    newFolder: () => join(uploadsIn(files), crypto.randomUUID()),
    // What cannot be removed now is removed at the next start.
    remove: (folder) => createSpool(folder).removeLeftovers().catch(() => {}),
  };
}

function uploadsIn(files: string): string {
  return join(files, "uploads");
}

/** The files of callers alone, for a thread, which reads them. */
export function openReadFiles(
  { files, bucket }: Pick<Config, "files" | "bucket">,
  log: Log,
  network: BucketNetwork,
): FileStore {
  return bucket === null
    ? openFileDirectory(files)
    : bucketFiles(bucket, { network, quota: new DiskQuota({ quotaBytes: null, log }), log });
}

/** Loads the code of buckets with the first use, since most deployments have none. */
function bucketFiles(
  bucket: BucketConfig,
  parts: { readonly network: BucketNetwork; readonly quota: DiskQuota; readonly log: Log },
): FileStore {
  const files = new Late(async () =>
    (await import("../../../platform/files/s3/open.ts")).openBucketFiles(bucket, parts)
  );
  return {
    write: async (name, source, options) => await (await files.load()).write(name, source, options),
    find: async (name) => await (await files.load()).find(name),
    remove: async (name) => await (await files.load()).remove(name),
    removeLeftovers: async (isKept) => await (await files.load()).removeLeftovers(isKept),
  };
}

/** The files of cached contents alone, for a thread. They are not counted in the space of results. */
export function openCacheFiles(
  { files, bucket }: Pick<Config, "files" | "bucket">,
  log: Log,
  network: BucketNetwork,
): FileStore {
  const folder = openFileDirectory(join(files, "caches"));
  if (bucket === null) return folder;
  const quota = new DiskQuota({ quotaBytes: null, log });
  const settings: BucketConfig = { ...bucket, prefix: `${bucket.prefix}caches/`, serve: "proxy" };
  return withEarlierFiles(bucketFiles(settings, { network, quota, log }), folder);
}

/** Files that also have those of an earlier place, until they are removed. */
function withEarlierFiles(files: FileStore, earlier: FileStore): FileStore {
  return {
    write: (name, source, options) => files.write(name, source, options),
    find: async (name) => await files.find(name) ?? await earlier.find(name),
    async remove(name) {
      await files.remove(name);
      await earlier.remove(name);
    },
    async removeLeftovers(isKept, isInUse) {
      await files.removeLeftovers(isKept, isInUse);
      await earlier.removeLeftovers(isKept, isInUse);
    },
  };
}
