import { dirname } from "node:path";
import type { Config } from "../../../config/config.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { asUnwritableError } from "../../../platform/lib/process/unwritable.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";
import { freeSpaceAt } from "../../../platform/store/free_space.ts";
import type { DatabasePatience } from "../../../platform/store/postgres/open_postgres_store.ts";
import { openKvStore } from "../../../platform/store/kv/open_kv_store.ts";
import { type GatewayRoles, storeConnections } from "./gateway_roles.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const openPostgresStoreModule = new Late(() => import("../../../platform/store/postgres/open_postgres_store.ts"));

/** Options of {@linkcode openStore}. */
export interface OpenStoreOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the store must exist already. Default false: an empty store is created when it is missing. */
  readonly mustExist?: boolean;
  /** Whether other gateways may use the store in PostgreSQL too. Default false: then no other process may. */
  readonly isShared?: boolean;
  /** The roles of the gateway, by which the pool of connections to PostgreSQL is sized. Default: a command's size. */
  readonly roles?: GatewayRoles;
  /** Whether to wait while another process uses the store in PostgreSQL. Default false. */
  readonly isStandby?: boolean;
  /** Called once, when another process uses the store in PostgreSQL alone since this one lost its lock. */
  readonly onLost?: () => void;
  /** How long the store in PostgreSQL may take. Default: as an operator needs it. */
  readonly patience?: DatabasePatience;
}

/**
 * Opens the store that the setting `store` names, and locks it for this process. Records are neither added nor changed.
 *
 * @throws {UnwritableError} If this process cannot write there; it names the setting.
 * @throws What `openKvStore` or `openPostgresStore` throws.
 */
export async function openStore(
  { store: address, files, limits }: Pick<Config, "store" | "files" | "limits">,
  options: OpenStoreOptions,
): Promise<StoreEngine> {
  const place = storeAddressOf(address);
  const minFreeBytes = limits.minFreeDiskBytes;
  if (place.engine === "postgres") {
    // Loaded when it is used, so that a gateway with a store of its own does not hold its code in memory.
    const { openPostgresStore } = await openPostgresStoreModule.load();
    const space = { freeBytes: freeSpaceAt([files]), minFreeBytes };
    const { isShared, roles = null, ...others } = options;
    const maxConnections = storeConnections(roles);
    const lock = isShared ? "shared" : "alone";
    return await openPostgresStore({ url: place.url, space, lock, maxConnections, ...others });
  }
  const path = place.engine === "kv" ? place.path : ":memory:";
  try {
    const freeBytes = freeSpaceAt(place.engine === "kv" ? [dirname(path), files] : [files]);
    return await openKvStore({ path, space: { freeBytes, minFreeBytes }, ...options });
  } catch (error) {
    throw asUnwritableError("store", path, error);
  }
}
