import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../lib/clock.ts";
import { createRedactor } from "../lib/redact.ts";
import { createHttpClient } from "../net/http1/client.ts";
import { originOf } from "../net/http1/wire_request.ts";
import { NO_PROXIES, type Proxies } from "../net/proxy.ts";
import type { HeaderFields } from "./authorization.ts";
import { loadKind } from "./kinds.ts";
import { listModels } from "./model_listing.ts";
import { createOutbound, type OutboundOptions } from "./outbound.ts";
import type { UpstreamKind } from "./upstream.ts";
import type { Provider } from "./provider.ts";
import type { ProviderConfig } from "./provider_config.ts";

/** The parts that all providers share. */
export interface ProviderParts {
  readonly clock: Clock;
  /** Additional trusted root certificates, PEM. */
  readonly caCerts: readonly string[];
  /** The proxies for vendor connections. Default: none. */
  readonly proxies?: Proxies;
}

/** The configured providers by name, and a function that closes their connections. */
export interface Providers {
  readonly byName: ReadonlyMap<string, Provider>;
  /** Closes idle connections. A provider that `kept` shares stays open. A running call ends as usual. */
  close(kept?: Providers): void;
}

/** A provider, its settings, and the function that closes its connections. */
interface OpenedProvider {
  readonly provider: Provider;
  readonly settings: readonly unknown[];
  readonly close: () => void;
}

/**
 * Creates all configured providers, and loads the adapters of their kinds. No connection is opened before the first
 * request.
 *
 * @param previous The providers of the configuration before. Those whose settings are equal are shared, with their
 * connections.
 */
export async function openProviders(
  configs: Readonly<Record<string, ProviderConfig>>,
  parts: ProviderParts,
  previous?: Providers,
): Promise<Providers> {
  const known = previous instanceof ProviderSet ? previous : null;
  const opened = await Promise.all(
    Object.entries(configs).map(async ([name, config]): Promise<OpenedProvider> => {
      const settings = [config, parts.caCerts, parts.proxies];
      const same = known?.opened.get(name);
      if (same !== undefined && isDeepStrictEqual(same.settings, settings)) return same;
      return { ...openProvider(name, config, await loadKind(config.kind), parts), settings };
    }),
  );
  return new ProviderSet(new Map(opened.map((each) => [each.provider.name, each])));
}

class ProviderSet implements Providers {
  readonly byName: ReadonlyMap<string, Provider>;

  constructor(readonly opened: ReadonlyMap<string, OpenedProvider>) {
    this.byName = new Map([...opened].map(([name, { provider }]) => [name, provider]));
  }

  close(kept?: Providers): void {
    for (const [name, { provider, close }] of this.opened) {
      if (kept?.byName.get(name) !== provider) close();
    }
  }
}

function openProvider(
  name: string,
  config: ProviderConfig,
  kind: UpstreamKind,
  { clock, caCerts, proxies = NO_PROXIES }: ProviderParts,
) {
  const baseUrl = new URL(config.baseUrl);
  const { connectMs, firstByteMs, idleMs } = config.timeouts;
  const client = createHttpClient({ clock, caCerts, proxies, connectTimeoutMs: connectMs });
  const redact = createRedactor([config.apiKey ?? "", config.secretKey ?? "", ...Object.values(config.headers)]);
  const headers = { ...kind.requiredHeaders, ...config.headers };
  const authorize = authorizerOf(kind, config);
  const outbound = createOutbound({
    provider: name,
    baseUrl,
    origin: originOf(baseUrl),
    headers,
    ...(authorize && { authorize }),
    idleMs,
    firstByteMs,
    client,
    clock,
    redact,
  });
  const { caches, probe, models } = kind;
  const provider: Provider = {
    name,
    outbound,
    redact,
    text: kind.text({ speaks: config.speaks }),
    images: kind.images(outbound, clock),
    videos: kind.videos(outbound),
    ...(caches && { caches: caches(outbound) }),
    ...(probe && { probe: (signal) => probe(outbound, signal) }),
    ...(models && { listModels: (signal) => listModels(outbound, models, signal) }),
    ...(config.allows && { allows: config.allows }),
    quirks: config.quirks,
    // The idle limit also applies before the first byte of a stream.
    streamFirstByteMs: Math.min(firstByteMs, idleMs),
    wholeFirstByteMs: firstByteMs,
  };
  return { provider, close: () => client.close() };
}

/**
 * Returns the function that authorizes the provider's requests. It omits fields that the operator sets. Null without a
 * key.
 */
function authorizerOf(kind: UpstreamKind, config: ProviderConfig): OutboundOptions["authorize"] {
  const { apiKey, secretKey, headers } = config;
  if (apiKey === null) return undefined;
  const credentials = secretKey === undefined ? { apiKey } : { apiKey, secretKey };
  const set = Object.keys(headers);
  const ours = (fields: HeaderFields) => {
    if (!set.some((name) => Object.hasOwn(fields, name))) return fields;
    return Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(headers, name)));
  };
  return (request) => {
    const fields = kind.authorize(request, credentials);
    return fields instanceof Promise ? fields.then(ours) : ours(fields);
  };
}
