import { isDeepStrictEqual } from "node:util";
import { AnsweringModels, type OtherAnswer } from "../../../conversation/models/answering_models.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { chain } from "../../../platform/lib/basics/maybe_promise.ts";
import { createRedactor, type Redactor } from "../../../platform/lib/text/redact.ts";
import { createHttpClient } from "../../../platform/net/http1/client.ts";
import { originOf } from "../../../platform/net/http1/wire_request.ts";
import { NO_PROXIES, type Proxies } from "../../../platform/net/proxy.ts";
import type { AccessTokens } from "../call/access_tokens.ts";
import type { Credentials, HeaderFields } from "../call/authorization.ts";
import type { CredentialConfig } from "../settings/credential_config.ts";
import { loadDeployments, loadKind } from "../adapters.ts";
import { listModels } from "../contract/model_listing.ts";
import { createOutbound, type OutboundOptions } from "../call/outbound.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { idOf, type Provider } from "../contract/provider.ts";
import type { ProviderConfig } from "../settings/provider_config.ts";
import type { OpenTokens } from "./provider_tokens.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const providerTokensModule = new Late(() => import("./provider_tokens.ts"));

/** The parts that all providers share. */
export interface ProviderParts {
  readonly clock: Clock;
  /** Additional trusted root certificates, PEM. */
  readonly caCerts: readonly string[];
  /** The proxies for vendor connections. Default: none. */
  readonly proxies?: Proxies;
  /** The first part of the ids of a vendor's built-in models; null if it has none. Default: none has. */
  readonly builtInFamilyOf?: (name: string, config: ProviderConfig) => string | null;
  /** Called once for each other model with which a vendor answers. */
  readonly onOtherAnswer?: (answer: OtherAnswer) => void;
}

/** The configured providers, and a function that closes their connections. */
export interface Providers {
  /**
   * By id. A provider with named credentials is there once for each of them, and the first also by the provider's name,
   * which records of state from before the credentials were named have.
   */
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
    Object.entries(configs).flatMap(
      ([name, { credentials, limits: _limits, halt: _halt, setState: _state, ...config }]) => {
        const answers = answersOf(name, config, parts);
        return credentialsOf(config, credentials).map(async (each): Promise<OpenedProvider> => {
          const settings = [each, parts.caCerts, parts.proxies];
          const same = known?.opened.get(idOf({ name, ...each }));
          if (same !== undefined && isDeepStrictEqual(same.settings, settings)) return same;
          const loading = each.apiVersion === undefined ? loadKind(each.kind) : loadDeployments(each.apiVersion);
          const [kind, openTokens] = await Promise.all([loading, loadTokens(each)]);
          return { ...openProvider(name, each, { kind, openTokens, answers }, parts), settings };
        });
      },
    ),
  );
  return new ProviderSet(new Map(opened.map((each) => [idOf(each.provider), each])));
}

class ProviderSet implements Providers {
  readonly byName: ReadonlyMap<string, Provider>;

  /** @param opened By id. */
  constructor(readonly opened: ReadonlyMap<string, OpenedProvider>) {
    const byName = new Map([...opened].map(([id, { provider }]) => [id, provider]));
    for (const { provider } of opened.values()) {
      if (!byName.has(provider.name)) byName.set(provider.name, provider);
    }
    this.byName = byName;
  }

  close(kept?: Providers): void {
    for (const [id, { provider, close }] of this.opened) {
      if (kept?.byName.get(id) !== provider) close();
    }
  }
}

/** The settings of a provider with one credential, without those that change without a new client. */
interface OpenedConfig extends Omit<ProviderConfig, "credentials" | "limits" | "halt" | "setState"> {
  readonly credential?: string;
}

/** The settings with each credential; the settings themselves without named credentials. */
function credentialsOf(
  config: Omit<ProviderConfig, "credentials" | "limits" | "halt" | "setState">,
  credentials: readonly CredentialConfig[] | undefined,
): readonly OpenedConfig[] {
  if (credentials === undefined) return [config];
  return credentials.map(({ name: credential, apiKey, secretKey, headers }) => ({
    ...config,
    credential,
    apiKey,
    ...(secretKey !== undefined && { secretKey }),
    headers: { ...config.headers, ...headers },
  }));
}

/** What a provider is made of, loaded for configured providers only. */
interface LoadedParts {
  readonly kind: UpstreamKind;
  /** Null for a provider without access tokens. */
  readonly openTokens: OpenTokens | null;
  /** What all credentials of a provider have in common. */
  readonly answers: Pick<Provider, "answering" | "builtInFamily">;
}

/** At Azure the names of models are those of deployments, which the operator chooses, with prices of their own. */
function answersOf(
  name: string,
  config: ProviderConfig,
  { builtInFamilyOf, onOtherAnswer }: ProviderParts,
): LoadedParts["answers"] {
  const isAzure = config.apiVersion !== undefined || new URL(config.baseUrl).hostname.endsWith(".azure.com");
  if (isAzure) return {};
  const builtInFamily = builtInFamilyOf?.(name, config) ?? null;
  const answering = new AnsweringModels((asked, answering) => onOtherAnswer?.({ provider: name, asked, answering }));
  return { answering, ...builtInFamily !== null && { builtInFamily } };
}

async function loadTokens({ entraId, vertex }: OpenedConfig): Promise<OpenTokens | null> {
  return entraId || vertex?.account ? (await providerTokensModule.load()).openTokens : null;
}

function openProvider(
  name: string,
  config: OpenedConfig,
  { kind, openTokens, answers }: LoadedParts,
  { clock, caCerts, proxies = NO_PROXIES }: ProviderParts,
) {
  const baseUrl = new URL(config.baseUrl);
  const { connectMs, firstByteMs, idleMs } = config.timeouts;
  const client = createHttpClient({ clock, caCerts, proxies, connectTimeoutMs: connectMs });
  const tokens = openTokens?.({ provider: name, config, client, clock });
  const secrets = [
    config.apiKey,
    config.secretKey,
    config.reports?.key,
    config.bedrock?.sessionToken,
    config.entraId?.clientSecret,
    ...Object.values(config.headers),
  ];
  const redactFixed = createRedactor(secrets.filter((each) => typeof each === "string"));
  const redact: Redactor = tokens ? (text) => redactFixed(tokens.hide(text)) : redactFixed;
  const { headers } = config;
  const configured = Object.keys(headers).map((name) => name.toLowerCase());
  const required = Object.entries(kind.requiredHeaders ?? {}).filter(([name]) => !configured.includes(name));
  const { authorize, onRejected } = tokens ? byTokens(tokens) : byCredentials(kind, config);
  const outbound = createOutbound({
    provider: name,
    baseUrl,
    origin: originOf(baseUrl),
    headers,
    defaults: Object.fromEntries(required),
    ...(authorize && { authorize }),
    ...(onRejected && { onRejected }),
    idleMs,
    firstByteMs,
    client,
    clock,
    redact,
  });
  const { probe, check, models } = kind;
  const { speaks, quirks, vertex } = config;
  const settings = { speaks, quirks, ...(vertex && { vertex }) };
  const capabilities: Capabilities = kind.capabilities({ outbound, settings, clock });
  const provider: Provider = {
    name,
    ...(config.credential !== undefined && { credential: config.credential }),
    outbound,
    redact,
    text: kind.text(settings),
    capabilities: config.hasBatches === true ? capabilities : without(capabilities, "batches"),
    ...(probe && { probe: (signal) => probe(outbound, signal) }),
    ...(check && { check: (signal) => check(outbound, signal) }),
    ...(models && { listModels: (signal) => listModels(outbound, models, signal) }),
    ...(config.allows && { allows: config.allows }),
    ...(config.promptCaching === "off" && { isUncached: true }),
    ...(config.pricingRegion !== undefined && { region: config.pricingRegion }),
    quirks: config.quirks,
    ...(config.facts && { facts: config.facts }),
    ...answers,
    // The idle limit also applies before the first byte of a stream.
    streamFirstByteMs: Math.min(firstByteMs, idleMs),
    wholeFirstByteMs: firstByteMs,
  };
  return { provider, close: () => client.close() };
}

function without(capabilities: Capabilities, name: keyof Capabilities): Capabilities {
  const { [name]: _left, ...others } = capabilities;
  return others;
}

/** How the requests of a provider are authorized; without functions if they need no authorization. */
type Authorization = Pick<OutboundOptions, "authorize" | "onRejected">;

function byTokens(tokens: AccessTokens): Authorization {
  return {
    authorize: () => tokens.fields(),
    onRejected: ({ status, fields }) => status === 401 && tokens.reject(fields),
  };
}

/** The fields of the kind for the provider's key, without those that the operator sets. */
function byCredentials(kind: UpstreamKind, config: OpenedConfig): Authorization {
  const { headers } = config;
  const credentials = credentialsIn(config);
  if (credentials === null) return {};
  const set = Object.keys(headers);
  const ours = (fields: HeaderFields) => {
    if (!set.some((name) => Object.hasOwn(fields, name))) return fields;
    return Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(headers, name)));
  };
  const { retriesRejected } = kind;
  return {
    authorize: (request) => chain(kind.authorize(request, credentials), ours),
    ...(retriesRejected && { onRejected: (rejection) => retriesRejected(rejection, credentials) }),
  };
}

function credentialsIn({ apiKey, secretKey, bedrock }: OpenedConfig): Credentials | null {
  if (apiKey === null) return null;
  return {
    apiKey,
    ...(secretKey !== undefined && { secretKey }),
    ...(bedrock && { region: bedrock.region }),
    ...(bedrock?.sessionToken && { sessionToken: bedrock.sessionToken }),
  };
}
