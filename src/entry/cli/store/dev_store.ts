import type { Config } from "../../../config/config.ts";
import { DEV_FILES, DEV_STORE } from "../../../config/dev_config.ts";
import { readStoreHolder } from "../../../platform/store/kv/process_lock.ts";
import { pathOf } from "../find/find_gateway.ts";
import { fileExists } from "./stopped_store.ts";

/**
 * The configuration with the store and the files of the gateway of `dev`, if one runs in this folder and there is no
 * configured store; else the configuration itself.
 *
 * @param isConfigNamed Whether the command line or the environment names a configuration or a store. Then `dev` is not
 * considered.
 */
export async function withDevStore(config: Config, isConfigNamed: boolean): Promise<Config> {
  const [own, dev] = [pathOf(config.store), pathOf(DEV_STORE)];
  if (isConfigNamed || own === null || dev === null || await fileExists(own)) return config;
  if (await readStoreHolder(dev).catch(() => null) === null) return config;
  const files = Deno.env.get("SWITCHYARD_FILES") ? config.files : DEV_FILES;
  return { ...config, store: DEV_STORE, files, bucket: null, requestLog: { ...config.requestLog, path: null } };
}
