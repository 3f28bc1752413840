import { dirname } from "node:path";
import { type Authenticate, createAuthenticate } from "../billing/authenticate.ts";
import { ensureConfiguredAccounts, type EnsuredAccounts } from "../billing/configured_accounts.ts";
import { createKeyRing, type KeyRing } from "../billing/key_ring.ts";
import { createMeter, type Meter } from "../billing/meter.ts";
import { LiveStreams } from "../calls/stream_relay.ts";
import { LiveCatalog } from "../catalog/live_catalog.ts";
import type { Config } from "../config/config.ts";
import { defaultMemoryLimit } from "../config/machine_memory.ts";
import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Log } from "../lib/log.ts";
import { MemoryBudget } from "../lib/memory_budget.ts";
import { readCidr } from "../net/address.ts";
import { originOf } from "../net/http1/wire_request.ts";
import type { EgressPolicy, OwnAddress } from "../net/target.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../routing/circuit_breaker.ts";
import { createCredentialMonitor } from "../routing/credential_monitor.ts";
import type { StoreEngine } from "../store/engine.ts";
import { asUnwritableError } from "../lib/unwritable.ts";
import { freeSpaceAt } from "../store/free_space.ts";
import { openKvStore } from "../store/kv/open_kv_store.ts";
import type { Provider } from "../upstreams/provider.ts";
import { openProviders } from "../upstreams/providers.ts";
import { countTokensBy } from "../texts/token_estimate.ts";
import { createTokenWork } from "../workers/token_work.ts";
import { createMediaWork, type MediaWork } from "../workers/media_work.ts";

/** What a foundation is laid with. */
export interface FoundationOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Whether the store must be there already. Default false: it is made when it is missing. */
  readonly mustExist?: boolean;
}

/** What every kind of work shares: the store, the money, the models and the ways out. */
export interface Foundation extends FoundationOptions {
  readonly store: StoreEngine;
  /** Accounts and keys that came into being at this start. */
  readonly ensured: EnsuredAccounts;
  readonly keys: KeyRing;
  readonly authenticate: Authenticate;
  readonly meter: Meter;
  readonly catalog: LiveCatalog;
  /** By their names. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly breaker: CircuitBreaker;
  /** What bodies, downloads and replies under way may hold. */
  readonly memory: MemoryBudget;
  /** For addresses that callers and vendors name. */
  readonly egress: EgressPolicy;
  /** The gateway's own addresses, which `egress` refuses; may grow. */
  readonly own: OwnAddress[];
  /** Media that are decoded or measured, in threads. */
  readonly media: MediaWork;
  /** Streams that are open. */
  readonly live: LiveStreams;
  /** Makes every charge durable, then lets go of everything. */
  close(): Promise<void>;
}

/** Opens the store, makes the accounts that are missing, and the rest. Throws what the store throws. */
export async function layFoundation(options: FoundationOptions): Promise<Foundation> {
  const { config, clock, log, mustExist } = options;
  const caCerts = config.egress.caFile === null ? [] : [await Deno.readTextFile(config.egress.caFile)];
  const store = await openStore(config, { clock, log, mustExist });
  const ensured = await ensureConfiguredAccounts(store, config.accounts);
  const keys = createKeyRing({ store, clock });
  const meter = createMeter({ store, clock, log, writeGuard: store.writeGuard });
  const providers = openProviders(config.providers, { clock, caCerts, proxies: config.proxies });
  const credentials = createCredentialMonitor({ providers: providers.byName, clock, log });
  const own = ownAddressesOf(config);
  const media = createMediaWork({ clock, log });
  const tokens = createTokenWork({ clock, log });
  const countHere = countTokensBy((text) => tokens.count(text));
  return {
    ...options,
    store,
    ensured,
    keys,
    authenticate: createAuthenticate(keys),
    meter,
    catalog: new LiveCatalog(config.models, config.aliases),
    providers: providers.byName,
    breaker: createCircuitBreaker({ clock, credentials }),
    memory: new MemoryBudget(config.limits.memoryBytes ?? defaultMemoryLimit()),
    egress: { allow: config.egress.allow.map(readCidr), own, caCertificates: caCerts, clock },
    own,
    media,
    live: new LiveStreams(),
    async close() {
      media.close();
      // A caller that left is charged by a count.
      await tokens.whenIdle();
      await meter.flush();
      await credentials.close();
      providers.close();
      countHere();
      tokens.close();
      await store.close();
    },
  };
}

/** Where the gateway is reached, as far as the configuration tells. */
function ownAddressesOf({ server }: Config): OwnAddress[] {
  if (server.baseUrl === null) return [];
  const { hostname: host, port } = originOf(new URL(server.baseUrl));
  return [{ host, port }];
}

async function openStore(
  { store: address, files, limits }: Config,
  options: { readonly clock: Clock; readonly log: Log; readonly mustExist?: boolean },
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
