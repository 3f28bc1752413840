import type { Config } from "../config/config.ts";
import { DEV_STORE } from "../config/dev_config.ts";
import { readStoreHolder, type StoreHolder } from "../store/kv/process_lock.ts";
import { gatewayAddress } from "./gateway_address.ts";
import { gatewayFetch, isLoopback } from "./gateway_fetch.ts";
import { readSecret } from "./secret_file.ts";
import { UsageError } from "./usage_error.ts";

/** A gateway that runs. */
export interface RunningGateway {
  /** Without a final slash. */
  readonly address: string;
  /** Null when neither the configuration nor the gateway's folder has one. */
  readonly adminKey: string | null;
  /** The store of `dev` when it was found by that, and not by the configuration; else null. */
  readonly devStore: string | null;
}

/** How a command line names the gateway that it means. */
export interface GatewayWish {
  /** The value of `--gateway`. */
  readonly gateway: string | undefined;
  /** Whether the command line or the environment names a configuration or a store, so that `dev` is not meant. */
  readonly isNamed: boolean;
}

/**
 * The gateway that a command is for: the one that `--gateway` names; else the one that runs on the configured store, or
 * answers at the configured address; else, when nothing was named, the one that `dev` runs in this folder.
 *
 * @returns Null when none runs.
 * @throws {UsageError} If two run, so that it is not clear which one is meant.
 * @throws {StoreBusyError} If the store is in use by a process that gives no address.
 */
export async function findGateway(config: Config, { gateway, isNamed }: GatewayWish): Promise<RunningGateway | null> {
  if (gateway !== undefined) {
    const address = gatewayAddress(config, gateway);
    return { address, adminKey: await adminKeyFor(config, address), devStore: null };
  }
  const own = await addressOfHolder(config.store) ?? await answeringAddress(config);
  const dev = isNamed || config.store === DEV_STORE ? null : await addressOfHolder(DEV_STORE);
  if (own !== null && dev !== null && !isSame(own, dev)) {
    throw new UsageError(`switchyard: two gateways run, at ${own} and, of "dev", at ${dev}: expected --gateway URL`);
  }
  if (dev !== null) return { address: dev, adminKey: await devAdminKey(DEV_STORE), devStore: pathOf(DEV_STORE) };
  return own === null ? null : { address: own, adminKey: await adminKeyFor(config, own), devStore: null };
}

/** Whether the command line or the environment names a configuration or a store. */
export function isNamed(configPath: string | undefined): boolean {
  return configPath !== undefined || !!Deno.env.get("SWITCHYARD_CONFIG") || !!Deno.env.get("SWITCHYARD_STORE");
}

/** The store is in use, by a gateway that starts or stops, or by another command. */
export class StoreBusyError extends Error {
  override readonly name = "StoreBusyError";
}

/** Where `dev` keeps the admin key of the gateway that runs on a store. */
export function adminKeyPath(store: string): string | null {
  const path = pathOf(store);
  return path === null ? null : `${path}.admin-key`;
}

/**
 * Where `dev` keeps the webhook secret of the account that it made. @param file The store's, as {@linkcode pathOf}
 * gives it.
 */
export function webhookSecretPath(file: string): string {
  return `${file}.webhook-secret`;
}

/** The file of a store; null for one in memory. */
export function pathOf(store: string): string | null {
  const path = store.slice(store.indexOf(":") + 1);
  return path === ":memory:" ? null : path;
}

const BUSY_TRIES = 50;
const BUSY_PAUSE_MS = 100;

/** Waits for a holder without an address: it starts, stops, or is a command that soon ends. */
async function addressOfHolder(store: string): Promise<string | null> {
  const path = pathOf(store);
  if (path === null) return null;
  for (let tries = 1;; tries++) {
    const holder = await holderOf(path);
    if (holder === null) return null;
    if (holder.address !== null) return reachable(holder.address);
    if (tries === BUSY_TRIES) {
      const who = holder.pid === null ? "another process" : `process ${holder.pid}`;
      throw new StoreBusyError(`Cannot use the store "${path}": it is in use by ${who}, which answers nowhere yet`);
    }
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
  }
}

const GREETING_TIMEOUT_MS = 3_000;

/** The configured address, if a gateway answers there; it then runs on a store that this process does not see. */
async function answeringAddress(config: Config): Promise<string | null> {
  if (config.server.port === 0) return null;
  const address = gatewayAddress(config, undefined);
  try {
    const response = await gatewayFetch(address, { signal: AbortSignal.timeout(GREETING_TIMEOUT_MS) });
    const { service } = await response.json() as { service?: unknown };
    return service === "switchyard" ? address : null;
  } catch {
    return null; // nobody there, or somebody else
  }
}

/** The key of the gateway at an address: of `dev` its own, else the configured one. */
async function adminKeyFor(config: Config, address: string): Promise<string | null> {
  for (const store of config.server.adminKey === null ? [config.store, DEV_STORE] : [DEV_STORE]) {
    const path = pathOf(store);
    const holder = path === null ? null : await holderOf(path);
    if (holder?.address && isSame(reachable(holder.address), address)) return await devAdminKey(store);
  }
  return config.server.adminKey;
}

/** The key of the environment goes first, as it does for `dev` itself. */
async function devAdminKey(store: string): Promise<string | null> {
  const path = adminKeyPath(store);
  return Deno.env.get("SWITCHYARD_ADMIN_KEY") || (path === null ? null : await readSecret(path));
}

/** Null also where this process may not look: then the address tells, or the store when it is opened. */
async function holderOf(path: string): Promise<StoreHolder | null> {
  return await readStoreHolder(path).catch(() => null);
}

/** An address to call, of one that is listened on. */
function reachable(address: string): string {
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  return a.port === b.port && (a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname)));
}
