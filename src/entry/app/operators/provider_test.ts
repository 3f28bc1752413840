import { counted } from "../../../platform/lib/text/counted.ts";
import type { Config } from "../../../config/config.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { providerIdOf } from "../../../platform/names/provider_name.ts";
import type { ProviderTest } from "../../../protocols/admin/providers.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import { checkProvider, type ProviderCheck } from "../../../vendors/upstreams/opening/provider_check.ts";
import { openConfiguredParts } from "../opening/configured_parts.ts";

/** What a test needs. */
export interface ProviderTestParts {
  readonly config: Config;
  /** By id. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly clock: Clock;
}

/**
 * Tests a provider with one of its credentials, or with all of them, one after the other.
 *
 * @param credential The name of a credential; null for all.
 * @throws {GatewayError} `not_found` if there is no such provider or credential.
 */
export async function testProvider(
  { config, providers, clock }: ProviderTestParts,
  name: string,
  credential: string | null,
): Promise<readonly ProviderTest[]> {
  const settings = ownValue(config.providers, name);
  if (settings === undefined) throw notFound(`no provider has this name`, Object.keys(config.providers));
  const known = settings.credentials?.map((each) => each.name) ?? [];
  if (credential !== null && !known.includes(credential)) {
    throw notFound(`provider "${name}" has no credential of this name`, known);
  }
  const tested = known.length === 0 ? [null] : known.filter((each) => credential === null || each === credential);
  const results: ProviderTest[] = [];
  for (const each of tested) {
    const provider = providers.get(providerIdOf(name, each))!;
    results.push(testOf(each, await checkProvider(provider, settings, clock)));
  }
  return results;
}

function testOf(credential: string | null, { fault, latencyMs, models }: ProviderCheck): ProviderTest {
  const listed = models === null ? "" : ` and lists ${counted(models.length, "model")}`;
  const message = fault === null ? `The vendor accepts the credential${listed}` : `${fault.text}: ${fault.advice}`;
  return { credential, isOk: fault === null, message, latencyMs, models: models?.length ?? null };
}

/**
 * Tests a provider of a configuration for which no gateway runs.
 *
 * @throws {GatewayError} As {@linkcode testProvider}.
 * @throws {ConfigError} If `egress.ca_file` cannot be read.
 */
export async function testConfiguredProvider(
  config: Config,
  clock: Clock,
  name: string,
  credential: string | null,
): Promise<readonly ProviderTest[]> {
  const { providers, openedProviders } = await openConfiguredParts(config, { clock, ownAddresses: [] });
  try {
    return await testProvider({ config, providers, clock }, name, credential);
  } finally {
    openedProviders.close();
  }
}

function notFound(what: string, known: readonly string[]): GatewayError {
  const names = known.length === 0 ? "none is configured" : `expected one of ${known.join(", ")}`;
  return new GatewayError("not_found", `Cannot test the provider: ${what}; ${names}`);
}
