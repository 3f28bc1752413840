import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Log } from "../lib/log.ts";
import { asUnwritableError } from "../lib/unwritable.ts";
import type { StoreEngine } from "../store/engine.ts";
import { freeSpaceAt } from "../store/free_space.ts";
import { openKvStore } from "../store/kv/open_kv_store.ts";

/** Options of {@linkcode openStore}. */
export interface OpenStoreOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the store must exist already. Default false: an empty store is created when it is missing. */
  readonly mustExist?: boolean;
}

/**
 * Opens the store that the setting `store` names, and locks it for this process. Records are neither added nor changed.
 *
 * @throws {UnwritableError} If this process cannot write there; it names the setting.
 * @throws What `openKvStore` throws.
 */
export async function openStore(
  { store: address, files, limits }: Pick<Config, "store" | "files" | "limits">,
  options: OpenStoreOptions,
): Promise<StoreEngine> {
  const [engine, path] = [address.slice(0, address.indexOf(":")), address.slice(address.indexOf(":") + 1)];
  if (engine !== "kv") {
    throw new GatewayError("internal_error", `Cannot open the store: no engine is called "${engine}"`);
  }
  try {
    const freeBytes = freeSpaceAt(path === ":memory:" ? [files] : [dirname(path), files]);
    return await openKvStore({ path, space: { freeBytes, minFreeBytes: limits.minFreeDiskBytes }, ...options });
  } catch (error) {
    throw asUnwritableError("store", path, error);
  }
}
