import type { BillingConfig } from "../money/billing/billing_section.ts";
import { builtInModels } from "../vendors/catalog/built_in.ts";
import { type Alias, readAlias } from "../vendors/catalog/alias.ts";
import { ALIAS_NAME_EXPECTATION, isAliasName } from "../vendors/catalog/alias_name.ts";
import type { Model } from "../vendors/catalog/model.ts";
import type { ModelPattern } from "../vendors/catalog/model_pattern.ts";
import { isProviderName, PROVIDER_NAME_EXPECTATION } from "../platform/names/provider_name.ts";
import { NO_PROXIES, type Proxies, readProxies } from "../platform/net/proxy.ts";
import { type ProviderConfig, readProviderConfig } from "../vendors/upstreams/settings/provider_config.ts";
import {
  refuseClashes,
  refuseEndpointPaths,
  refuseOpenPriceSource,
  refuseUnkeptCapture,
  refuseUnlistable,
  refuseUnmade,
  refuseUnusedAdminAddress,
} from "./cross_checks.ts";
import { addsBuiltIns, idsIn, layTree } from "./config_tree.ts";
import { type ConfigTree, type PlainTree, type StoredConfig, storedStatesIn, treeOf } from "./tree/plain_tree.ts";
import { readDocument } from "./tree/document.ts";
import { isSection, type Section } from "./tree/section.ts";
import { providersFrom, withPresetKeys } from "./environment.ts";
import type { Environment } from "./tree/expansion.ts";
import { refuseImplausiblePrices, refuseUnpriced } from "./price_checks.ts";
import {
  builtInIdsBeside,
  discoveryPatternsOf,
  isPattern,
  modelsIn,
  patternModelsIn,
  readModelEntry,
} from "./model_entries.ts";
import { refuseBadNames, refuseUnfitFallbacks, refuseUnknownRedirects } from "./name_checks.ts";
import { applyOverrides } from "./overrides.ts";
import { Problems, type Reader } from "./tree/problems.ts";
import { withEntries } from "./setting_entries.ts";
import type { Path } from "./tree/setting_path.ts";
import { readSections, SECTIONS, type SectionValues } from "./sections/sections.ts";
import { storeAddressOf } from "./tree/store_address.ts";
import { applyBucketVariables, type BucketConfig, readFiles } from "./sections/storage_sections.ts";

/**
 * The settings of an operator, checked and with all defaults filled in. Source: docs/configuration-reference.md.
 */
export interface Config extends Omit<SectionValues, "billing"> {
  /** The folder of uploads and cached contents, and of results without a bucket. Default: `./data/files`. */
  readonly files: string;
  /** The bucket of results; null, the default, for the folder. */
  readonly bucket: BucketConfig | null;
  /** By name, in the operator's order. Default: the vendors whose keys are in the environment. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  /** Default: the built-in models of the configured providers. */
  readonly models: readonly Model[];
  /** Entries of `models` with a star, which stand for the models in a provider's list. Default: none. */
  readonly modelPatterns: readonly ModelPattern[];
  /** The ids of those models that are built in, whose prices a price source replaces. */
  readonly builtInIds: readonly string[];
  /** Other names of models, in the operator's order. Default: none. */
  readonly aliases: readonly Alias[];
  readonly billing: BillingConfig;
  /** The proxies for requests to vendors; only from the environment. Default: none. */
  readonly proxies: Proxies;
}

/**
 * Reads a configuration.
 *
 * @param text YAML or JSON; empty text gives all defaults.
 * @param file The name of the text in problems.
 * @param env The source of `${NAME}`, the overrides and the vendors' keys.
 * @throws {ConfigError} With all problems.
 */
export function readConfig(text: string, file: string, env: Environment): Config {
  return readLayers({ text, file, env, stored: {} }).config;
}

/** The layers of a configuration. The first that sets a value wins: the environment, the file, the store. */
export interface ConfigLayers {
  /** YAML or JSON; empty text gives all defaults. */
  readonly text: string;
  /** The name of the text in problems. */
  readonly file: string;
  /** The source of `${NAME}`, the overrides and the vendors' keys. */
  readonly env: Environment;
  readonly stored: StoredConfig;
}

/**
 * Reads the layers of a configuration.
 *
 * @returns The configuration, and its settings as an operator would write them.
 * @throws {ConfigError} With all problems.
 */
export function readLayers(layers: ConfigLayers): LoadedConfig {
  const { config, tree } = readPlainLayers(layers);
  return { config, tree: treeOf(tree) };
}

/**
 * Reads the layers of a configuration as plain data, which can be sent to another thread.
 *
 * @throws {ConfigError} With all problems.
 */
export function readPlainLayers({ text, file, env, stored }: ConfigLayers): PlainLoadedConfig {
  const problems = new Problems(file);
  const declared = readDocument(text, file, env, problems);
  const tree = { ...declared };
  applyOverrides(tree, env, problems);
  tree.providers ??= providersFrom(env, problems);
  applyBucketVariables(tree, env, problems);
  const proxies = readProxies(env, (name) => {
    problems.setOrigin([name], `environment: ${name}`);
    problems.addPlain([name], "the address of an HTTP proxy, such as http://proxy.internal:3128", "other text");
  });
  const layers = layTree({ source: file, file: declared, tree, stored, env, problems });
  const isBuiltIn = tree.models == null && Object.keys(stored.models ?? {}).length === 0;
  const sections = isBuiltIn ? { ...layers.sections, models: undefined } : layers.sections;
  const providers = withPresetKeys(sections.providers, env, problems);
  const config = readTree({ ...sections, providers }, problems);
  const replacing = replacingIds(tree, stored);
  const builtInIds = replacing === null || isBuiltIn
    ? config.builtInIds
    : builtInIdsBeside(replacing, Object.keys(config.providers));
  const accounts = config.accounts.map((each, index) => ({ ...each, declaredAt: `${file}: accounts[${index}]` }));
  const states = withStoredStates(config.providers, stored);
  const whole = { ...config, providers: states, accounts, builtInIds, proxies };
  return { config: whole, tree: withEntries(layers, whole) };
}

/** Adds who set the states of providers that the admin API has set, and when. */
export function withStoredStates(providers: Config["providers"], stored: StoredConfig): Config["providers"] {
  const states = storedStatesIn(stored);
  return Object.fromEntries(
    Object.entries(providers).map(([name, provider]) => {
      const set = Object.hasOwn(states, name) ? states[name] : undefined;
      if (set === undefined) return [name, provider];
      const halt = provider.halt && { ...provider.halt, by: set.by, since: set.since };
      return [name, { ...provider, ...halt && { halt }, setState: set }];
    }),
  );
}

/** The ids of models beside which there are built-in ones; null if the file has all models. */
function replacingIds(tree: Section, { models = {} }: StoredConfig): ReadonlySet<unknown> | null {
  if (tree.models != null && !addsBuiltIns(tree)) return null;
  return new Set([...Object.keys(models), ...Array.isArray(tree.models) ? idsIn(tree.models) : []]);
}

/** A configuration that was read, and its settings as an operator would write them. */
export interface LoadedConfig {
  readonly config: Config;
  readonly tree: ConfigTree;
}

/** The same as plain data. */
export interface PlainLoadedConfig {
  readonly config: Config;
  readonly tree: PlainTree;
}

/** Sections of the files of other gateways that "switchyard import" reads, with the name that it has for each. */
const FOREIGN_SECTIONS: ReadonlyMap<string, string> = new Map([
  ...["model_list", "litellm_settings", "router_settings"].map((key): [string, string] => [key, "litellm"]),
  ...["config_store", "logs_store", "vector_store"].map((key): [string, string] => [key, "bifrost"]),
]);

/**
 * Refuses the file of another gateway, in which every section would be a problem.
 *
 * @throws {ConfigError}
 */
function refuseForeign(tree: Section, problems: Problems): void {
  for (const key of Object.keys(tree)) {
    const program = FOREIGN_SECTIONS.get(key);
    if (program === undefined) continue;
    const advice = `"switchyard import ${program} FILE --output switchyard.yaml" converts it`;
    problems.addPlain([key], "a section of this gateway", `one of another program: ${advice}`);
    problems.throwIfAny();
  }
}

/**
 * Reads the sections of a tree whose expressions are expanded.
 *
 * @throws {ConfigError} With all problems, those already noted included.
 */
export function readTree(tree: Section, problems: Problems): Config {
  refuseForeign(tree, problems);
  for (const key of Object.keys(tree)) {
    if (!Object.hasOwn(SECTIONS, key)) problems.addUnknown([key], Object.keys(SECTIONS));
  }
  const entries = tree.models == null ? null : listOf(tree.models, ["models"], problems, readModelEntry);
  const providers = readProviders(tree.providers ?? {}, problems);
  const patterns = entries?.filter((entry) => entry !== null && isPattern(entry)) ?? [];
  const sections = readSections(tree, problems);
  const config = {
    ...sections,
    ...readFiles(tree, problems),
    providers,
    models: entries?.filter((entry) => entry !== null && !isPattern(entry)) ?? null,
    // Entries of models precede discover.
    modelPatterns: [...patterns, ...discoveryPatternsOf(providers)],
    aliases: readAliases(tree.aliases ?? {}, problems),
    billing: billingFor(sections),
  };
  const providerNames = new Set(isSection(tree.providers) ? Object.keys(tree.providers) : []);
  const models = config.models ?? builtInModels(providerNames);
  refuseUnusedAdminAddress(config.server, problems);
  refuseUnkeptCapture(tree, config.requestLog, problems);
  refuseClashes(tree, providerNames, problems);
  refuseEndpointPaths(config.providers, problems);
  refuseBadNames(tree, tree.models == null ? models as readonly Model[] : [], problems);
  refuseUnfitFallbacks(modelsIn(entries ?? []), problems);
  const listing = new Set((entries ?? []).flatMap((entry) => entry && isPattern(entry) ? [entry.provider] : []));
  refuseUnknownRedirects(modelsIn(entries ?? []), listing, problems);
  refuseUnlistable(tree, config.providers, problems);
  refuseUnmade([...modelsIn(entries ?? []), ...patternModelsIn(entries ?? [])], config.providers, problems);
  refuseOpenPriceSource(config.prices, config.egress, problems);
  refuseUnpriced(modelsIn(entries ?? []), problems);
  refuseImplausiblePrices([...modelsIn(entries ?? []), ...patternModelsIn(entries ?? [])], problems);
  problems.throwIfAny();
  // Without problems nothing above is null, except models that were left out.
  const builtInIds = config.models === null ? models.map((model) => (model as Model).id) : [];
  return { ...config, models, builtInIds, proxies: NO_PROXIES } as Config;
}

/** The host of a gateway with a database can be replaced, and its disk with it, so charges are synced by default. */
function billingFor({ store, billing }: ReturnType<typeof readSections>): BillingConfig | null {
  if (billing === null || store === null) return null;
  const isDatabase = storeAddressOf(store).engine === "postgres";
  return { ...billing, durability: billing.durability ?? (isDatabase ? "power" : "process") };
}

function readAliases(value: unknown, problems: Problems): (Alias | null)[] {
  if (!isSection(value)) {
    problems.add(["aliases"], "a section with a model under each alias", value);
    return [];
  }
  return Object.entries(value).map(([name, alias]) => {
    const path = ["aliases", name];
    if (!isAliasName(name)) problems.addPlain(path, ALIAS_NAME_EXPECTATION, "an invalid name");
    return problems.read(path, alias, (each, context) => readAlias(name, each, context));
  });
}

/** Items that cannot be read are null, so that the indexes of the others stay. */
function listOf<T>(value: unknown, path: Path, problems: Problems, read: Reader<T>): (T | null)[] {
  if (Array.isArray(value)) return value.map((item, index) => problems.read([...path, index], item, read));
  if (value !== undefined && value !== null) problems.add(path, "a list", value);
  return [];
}

function readProviders(value: unknown, problems: Problems): Record<string, ProviderConfig | null> {
  if (!isSection(value)) {
    problems.add(["providers"], "a section with a provider under each name", value);
    return {};
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, provider]) => {
      const path = ["providers", name];
      if (!isProviderName(name)) {
        problems.addPlain(path, PROVIDER_NAME_EXPECTATION, "an invalid name");
      }
      return [name, problems.read(path, provider, readProviderConfig)];
    }),
  );
}
