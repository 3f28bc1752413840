import type { Config } from "../../../config/config.ts";
import type { FileStore } from "../../../platform/files/files.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { Store } from "../../../platform/store/store.ts";
import { StoredFiles } from "../../../services/stored_files/stored_files.ts";

/** What {@linkcode createStoredFiles} needs of the services, on the main thread and in threads alike. */
export interface StoredFileServices {
  readonly config: Pick<Config, "retention">;
  readonly store: Store;
  readonly files: { readonly results: FileStore };
  readonly log: Log;
}

/** The files of callers, with the settings of one configuration. */
export function createStoredFiles({ config: { retention }, store, files, log }: StoredFileServices): StoredFiles {
  return new StoredFiles({ store, files: files.results, log, retentionMs: () => retention.filesMs });
}
