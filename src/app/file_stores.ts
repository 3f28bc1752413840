import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { openFileDirectory } from "../files/directory.ts";
import type { FileStore } from "../files/files.ts";
import { DiskQuota } from "../files/quota.ts";
import { createSpool, type Spool } from "../files/spool.ts";
import type { Log } from "../lib/log.ts";
import { freeSpaceAt } from "../store/free_space.ts";

/** The folders below the setting `files`, each with one user. */
export interface FileStores {
  /** Copies of video results, and media that requests for videos carry; in `files` itself. */
  readonly results: FileStore;
  /** The space of `results`. It counts the files that exist once `results` is tidied. */
  readonly quota: DiskQuota;
  /** Media of cached contents; in `caches`. */
  readonly caches: FileStore;
  /** Model lists of providers; in `model-lists`. */
  readonly modelLists: FileStore;
  /** Uploads of requests under way; in `uploads`. */
  readonly uploads: Spool;
}

/** Opens the folders. Nothing is read or written; a folder is created by its first write. */
export function openFileStores({ files, limits }: Pick<Config, "files" | "limits">, log: Log): FileStores {
  const { filesQuotaBytes: quotaBytes, minFreeDiskBytes } = limits;
  // Results stop at twice the free space below which paid work is refused.
  const quota = new DiskQuota({ quotaBytes, freeBytes: freeSpaceAt([files]), spareBytes: 2 * minFreeDiskBytes, log });
  return {
    results: openFileDirectory(files, quota),
    quota,
    caches: openCacheFiles({ files }),
    modelLists: openFileDirectory(join(files, "model-lists")),
    uploads: createSpool(join(files, "uploads")),
  };
}

/** The folder of cached contents alone, for a thread. */
export function openCacheFiles({ files }: Pick<Config, "files">): FileStore {
  return openFileDirectory(join(files, "caches"));
}
