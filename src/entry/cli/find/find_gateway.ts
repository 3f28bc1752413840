import type { Config } from "../../../config/config.ts";
import { DEV_STORE } from "../../../config/dev_config.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import { commandKeyOf } from "../../../config/sections/admin_keys.ts";
import { readStoreHolder, type StoreHolder } from "../../../platform/store/kv/process_lock.ts";
import { StoreBusyError } from "../command_errors.ts";
import { gatewayAddress } from "./gateway_address.ts";
import { gatewayFetch, isLoopback } from "./gateway_fetch.ts";
import { readSecret } from "./secret_file.ts";
import { UsageError } from "../usage_error.ts";

/** A running gateway. */
export interface RunningGateway {
  /** Without a final slash. */
  readonly address: string;
  /** Null if neither the configuration nor the folder of `dev` has one. */
  readonly adminKey: string | null;
  /** The store's path, if the gateway was found as the one of `dev`; null if the configuration led to it. */
  readonly devStore: string | null;
}

/** How a command line selects a gateway. */
export interface GatewaySelection {
  /** The value of `--gateway`. */
  readonly gateway: string | undefined;
  /** Whether the command line or the environment names a configuration or a store. Then `dev` is not considered. */
  readonly isConfigNamed: boolean;
}

/**
 * Finds the gateway that a command is for. The order: the address in `--gateway`; the gateway that has the configured
 * store locked; a gateway at the configured address; the gateway of `dev` in this folder, unless the configuration is
 * named.
 *
 * @returns Null if none runs.
 * @throws {UsageError} If both a configured gateway and the one of `dev` run.
 * @throws {StoreBusyError} If a process without an address has the store locked.
 */
export async function findGateway(
  config: Config,
  { gateway, isConfigNamed }: GatewaySelection,
): Promise<RunningGateway | null> {
  if (gateway !== undefined) {
    const address = gatewayAddress(config, gateway);
    return { address, adminKey: await adminKeyFor(config, address), devStore: null };
  }
  const configured = await addressOfHolder(config.store) ?? await answeringAddress(config);
  const dev = isConfigNamed || config.store === DEV_STORE ? null : await addressOfHolder(DEV_STORE);
  if (configured !== null && dev !== null && !isSameAddress(configured, dev)) {
    throw new UsageError(
      `switchyard: two gateways run, one at ${configured} and the one of "dev" at ${dev}: select one with --gateway URL`,
    );
  }
  if (dev !== null) return { address: dev, adminKey: await devAdminKey(DEV_STORE), devStore: pathOf(DEV_STORE) };
  if (configured === null) return null;
  return { address: configured, adminKey: await adminKeyFor(config, configured), devStore: null };
}

/** Whether the command line or the environment names a configuration or a store. */
export function isConfigNamed(configPath: string | undefined): boolean {
  return configPath !== undefined || !!Deno.env.get("SWITCHYARD_CONFIG") || !!Deno.env.get("SWITCHYARD_STORE");
}

/** The file in which `dev` keeps the admin key of its gateway; null for a store in memory. */
export function adminKeyPath(store: string): string | null {
  const path = pathOf(store);
  return path === null ? null : `${path}.admin-key`;
}

/**
 * The file in which `dev` keeps the webhook secret of its account.
 *
 * @param file The store's path, as {@linkcode pathOf} gives it.
 */
export function webhookSecretPath(file: string): string {
  return `${file}.webhook-secret`;
}

/** The path of a store's file; null for a store in memory or in a database. */
export function pathOf(store: string): string | null {
  const address = storeAddressOf(store);
  return address.engine === "kv" ? address.path : null;
}

const MAX_BUSY_TRIES = 50;
const BUSY_PAUSE_MS = 100;

/** The address of the gateway that has a store locked. Waits up to five seconds for a process without an address. */
async function addressOfHolder(store: string): Promise<string | null> {
  const path = pathOf(store);
  if (path === null) return null;
  for (let tries = 1;; tries++) {
    const holder = await holderOf(path);
    if (holder === null) return null;
    if (holder.address !== null) return reachable(holder.address);
    if (tries === MAX_BUSY_TRIES) {
      const who = holder.pid === null ? "another process" : `process ${holder.pid}`;
      throw new StoreBusyError(
        `Cannot open the store "${path}": ${who} has it locked and has not published an address`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
  }
}

const PROBE_TIMEOUT_MS = 3_000;

/** The configured address, if a gateway answers there. Its store is then not visible to this process. */
async function answeringAddress(config: Config): Promise<string | null> {
  if ((config.server.adminListen ?? config.server).port === 0) return null;
  const address = gatewayAddress(config, undefined);
  try {
    const response = await gatewayFetch(address, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const { service } = await response.json() as { service?: unknown };
    return service === "switchyard" ? address : null;
  } catch {
    return null; // Nothing listens there, or another program does.
  }
}

/** The admin key for the gateway at an address: the key of `dev` for its gateway, else the configured key. */
async function adminKeyFor(config: Config, address: string): Promise<string | null> {
  const configured = commandKeyOf(config.server);
  for (const store of configured === null ? [config.store, DEV_STORE] : [DEV_STORE]) {
    const path = pathOf(store);
    const holder = path === null ? null : await holderOf(path);
    if (holder?.address && isSameAddress(reachable(holder.address), address)) return await devAdminKey(store);
  }
  return configured;
}

/** The admin key of `dev`. As in `dev` itself, the environment takes precedence over the file. */
async function devAdminKey(store: string): Promise<string | null> {
  const path = adminKeyPath(store);
  return Deno.env.get("SWITCHYARD_ADMIN_KEY") || (path === null ? null : await readSecret(path));
}

/** Null also if this process may not read the lock. Then the address or the opening of the store decides. */
async function holderOf(path: string): Promise<StoreHolder | null> {
  return await readStoreHolder(path).catch(() => null);
}

/** The address to call for an address to listen on. */
function reachable(address: string): string {
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  return a.port === b.port && (a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname)));
}
