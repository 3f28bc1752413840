import type { ProviderConfig } from "../vendors/upstreams/settings/provider_config.ts";
import { CONFIGURED_VENDORS } from "../vendors/upstreams/configured_vendors.ts";
import type { Vendor } from "../vendors/upstreams/vendor.ts";
import { BUILT_IN_VENDORS, kindNameOf, presetOf, VENDORS } from "../vendors/upstreams/vendors.ts";
import { isSection, type Section } from "./tree/section.ts";
import type { Environment } from "./tree/expansion.ts";
import type { Problems } from "./tree/problems.ts";

/**
 * The first part of the ids of a provider's built-in models; null if it has none. A provider is recognized by the name
 * that it has without a file, or by its vendor's base address.
 */
export function builtInFamilyOf(name: string, { kind, baseUrl }: ProviderConfig): string | null {
  const isAt = (each: Vendor) => each.kind === kind && each.baseUrl === baseUrl;
  return BUILT_IN_VENDORS.find((vendor) => vendor === name) ??
    BUILT_IN_VENDORS.find((vendor) => isAt(VENDORS[vendor])) ?? null;
}

/** The `providers` section without a file: one provider for each vendor whose key, and address, is set. */
export function providersFrom(environment: Environment, problems: Problems): Section {
  const providers: Section = {};
  for (const [provider, vendor] of Object.entries(VENDORS)) {
    const { addressNames = [], reportKeyName } = vendor;
    const names = Object.entries(keyNamesOf(vendor, environment));
    if (names.length === 0) continue;
    if (reportKeyName !== undefined && environment(reportKeyName)) names.push(["report_key", reportKeyName]);
    const addressName = addressNames.find((name) => environment(name));
    if (addressName === undefined && vendor.baseUrl === null) continue;
    const address = addressName && environment(addressName);
    const keys = Object.fromEntries(names.map(([field, name]) => [field, environment(name)]));
    providers[provider] = { kind: kindNameOf(provider, vendor), ...keys, ...(address ? { base_url: address } : {}) };
    for (const [field, name] of names) {
      problems.setOrigin(["providers", provider, field], `environment: ${name}`);
      if (!environment(name)) problems.addPlain(["providers", provider, field], "the other key of the pair", "nothing");
    }
    if (addressName) problems.setOrigin(["providers", provider, "base_url"], `environment: ${addressName}`);
  }
  return providers;
}

/**
 * The `providers` section with the keys of presets: a provider of `kind: groq` without its own key and address
 * has the key in `GROQ_API_KEY`. Of a preset whose accounts have their own addresses, it has the key at any address. A
 * provider of kind `bedrock` has what the variables of AWS state. The section itself is not changed, so that no key is
 * shown with it.
 */
export function withPresetKeys(providers: unknown, environment: Environment, problems: Problems): unknown {
  if (!isSection(providers)) return providers;
  return Object.fromEntries(
    Object.entries(providers).map(([name, provider]) => {
      if (!isSection(provider)) return [name, provider];
      const variables = Object.entries(
        provider.kind === "bedrock" ? awsVariablesFor(provider, environment) : presetVariableFor(provider, environment),
      );
      if (variables.length === 0) return [name, provider];
      for (const [field, variable] of variables) {
        problems.setOrigin(["providers", name, field], `environment: ${variable}`);
      }
      const values = variables.map(([field, variable]) => [field, environment(variable)]);
      return [name, { ...provider, ...Object.fromEntries(values) }];
    }),
  );
}

/** The variable of a preset's key that applies to a provider, by field; empty for a provider with a key of its own. */
function presetVariableFor(provider: Section, environment: Environment): Readonly<Record<string, string>> {
  if (provider.api_key || provider.credentials || provider.entra_id) return {};
  const preset = presetOf(String(provider.kind));
  if (provider.base_url && preset?.baseUrl !== null) return {};
  const keyName = preset?.keyNames.find((name) => environment(name));
  return keyName ? { api_key: keyName } : {};
}

/**
 * The environment variables of AWS that apply to a provider of kind `bedrock`, by field. Keys apply only to a provider
 * without its own key and address.
 */
function awsVariablesFor(provider: Section, environment: Environment): Readonly<Record<string, string>> {
  const { regionNames } = CONFIGURED_VENDORS.bedrock;
  const region = provider.region ? undefined : regionNames.find((name) => environment(name));
  return {
    ...(region !== undefined && { region }),
    ...(!provider.api_key && !provider.credentials && !provider.base_url && awsKeyVariables(environment)),
  };
}

function awsKeyVariables(environment: Environment): Readonly<Record<string, string>> {
  const { bedrock } = CONFIGURED_VENDORS;
  const names = keyNamesOf(bedrock, environment);
  if (!Object.values(names).every((name) => environment(name))) return {};
  const hasToken = names.secret_key !== undefined && environment(bedrock.sessionTokenName);
  return { ...names, ...hasToken && { session_token: bedrock.sessionTokenName } };
}

/** The variables of a vendor's key or keys, by field; empty if the vendor is not enabled. */
function keyNamesOf({ keyNames, pairNames }: Vendor, environment: Environment): Record<string, string> {
  const keyName = keyNames.find((name) => environment(name));
  if (keyName) return { api_key: keyName };
  if (!pairNames?.some((name) => environment(name))) return {};
  return { api_key: pairNames[0], secret_key: pairNames[1] };
}
