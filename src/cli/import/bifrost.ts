import { isAccountId } from "../../billing/account_id.ts";
import { builtInFields } from "../../catalog/built_in.ts";
import { listsModels, presetOf, type ProviderKind } from "../../upstreams/kinds.ts";
import { ImportedConfig, type ImportResult, type Written } from "./imported_config.ts";
import { listIn, mapIn, numberIn, type SourceMap, textIn, textsIn } from "./source.ts";
import { type ImportedVendor, isOwnServer, vendorNamed } from "./vendors.ts";

/** `env.NAME` is the environment variable `NAME`. Source: Bifrost, "config.json". */
const VARIABLE = /^env\.(.+)$/;
const MIN_KEY = 16;

/** Imports the `config.json` of a Bifrost gateway. */
export function importBifrost(source: unknown, name: string): ImportResult {
  const root = mapIn(source);
  const config = new ImportedConfig((text) => VARIABLE.exec(text)?.[1] ?? null);
  const names = new Map<string, string>();
  for (const [vendor, entry] of Object.entries(mapIn(root.providers))) {
    const provider = readProvider(config, vendor, mapIn(entry));
    if (provider !== null) names.set(vendor, provider);
  }
  readGovernance(config, names, mapIn(root.governance));
  for (const section of Object.keys(root)) {
    if (!["$schema", "providers", "governance"].includes(section)) config.drop(section, "it has no counterpart");
  }
  return config.finish(name);
}

/** Adds a provider with its models. Returns its name, or null if it is not carried. */
function readProvider(config: ImportedConfig, name: string, entry: SourceMap): string | null {
  const place = `providers.${name}`;
  const keys = listIn(entry.keys).map(mapIn);
  if (name === "azure") return readAzure(config, keys, place);
  const base = textIn(mapIn(entry.custom_provider_config).base_provider_type);
  const vendor = vendorNamed(base ?? name) ?? vendorNamed(`${name}_ai`);
  if (vendor === null) {
    config.drop(place, "the vendor is not one that is imported");
    return null;
  }
  const fields = providerFields(config, vendor, entry, place);
  addKeys(config, vendor, { keys, fields, name, place });
  const provider = config.provider(name, fields);
  addModels(config, vendor, { keys, provider, place });
  return provider;
}

function providerFields(
  config: ImportedConfig,
  vendor: ImportedVendor,
  entry: SourceMap,
  place: string,
): Record<string, Written> {
  const network = mapIn(entry.network_config);
  const fields: Record<string, Written> = { kind: vendor.kind };
  const address = textIn(network.base_url);
  if (address !== null) {
    const trimmed = address.replace(/\/+$/, "").replace(vendor.removedPath ?? /$^/, "");
    // The base address of Bifrost has no version for vendors of the default protocol.
    const added = vendor.kind === "anthropic" || vendor.kind === "google" || /\/v\d+$/.test(trimmed) ? "" : "/v1";
    fields.base_url = config.address(trimmed) + added;
  }
  const timeout = numberIn(network.default_request_timeout_in_seconds);
  if (timeout !== null && timeout > 0) fields.timeouts = { first_byte: timeout };
  const headers = Object.entries(mapIn(network.extra_headers)).flatMap(([header, value]) => {
    const text = textIn(value);
    return text === null ? [] : [[header, config.secret(text, `HEADER_${header}`)]];
  });
  if (headers.length > 0) fields.headers = Object.fromEntries(headers);
  const concurrency = numberIn(mapIn(entry.concurrency_and_buffer_size).concurrency);
  if (concurrency !== null && concurrency >= 1) fields.concurrency = Math.floor(concurrency);
  const known = ["base_url", "default_request_timeout_in_seconds", "extra_headers"];
  for (const field of Object.keys(network)) {
    if (!known.includes(field)) config.drop(`${place}.network_config.${field}`, "it has no counterpart");
  }
  const read = ["keys", "network_config", "concurrency_and_buffer_size", "custom_provider_config"];
  for (const field of Object.keys(entry)) {
    if (!read.includes(field)) config.drop(`${place}.${field}`, "it has no counterpart");
  }
  return fields;
}

interface KeyedProvider {
  readonly keys: readonly SourceMap[];
  readonly fields: Record<string, Written>;
  readonly name: string;
  readonly place: string;
}

/** One key becomes `api_key`, several become `credentials` with their weights. */
function addKeys(config: ImportedConfig, vendor: ImportedVendor, { keys, fields, name, place }: KeyedProvider): void {
  const usable = keys.flatMap((key, index) => {
    const value = textIn(key.value);
    if (value !== null) return [{ key, index, secret: config.secret(value, `${name}_API_KEY`) }];
    if (vendor.keyName !== null) config.drop(`${place}.keys[${index}]`, "it has no value");
    return [];
  });
  const [first] = usable;
  if (first === undefined) {
    if (vendor.keyName !== null) fields.api_key = config.variable(vendor.keyName);
  } else if (usable.length === 1) fields.api_key = first.secret;
  else {
    const names = new Set<string>();
    fields.credentials = usable.map(({ key, index, secret }): Written => {
      const wanted = (textIn(key.name) ?? `key-${index + 1}`).toLowerCase().replaceAll(/[^a-z0-9._-]/g, "-").slice(
        0,
        60,
      );
      const own = names.has(wanted) ? `${wanted}-${index + 1}` : wanted;
      names.add(own);
      const weight = numberIn(key.weight);
      return { name: own, api_key: secret, ...(weight !== null && weight >= 0 && weight !== 1 && { weight }) };
    });
    const lists = new Set(usable.map(({ key }) => JSON.stringify([...textsIn(key.models)].sort())));
    if (lists.size > 1) config.drop(`${place}.keys`, "each credential serves all models of the provider");
  }
}

/** The models that the keys name; without names, those that the provider lists. */
function addModels(
  config: ImportedConfig,
  vendor: ImportedVendor,
  { keys, provider, place }: {
    readonly keys: readonly SourceMap[];
    readonly provider: string;
    readonly place: string;
  },
): void {
  const lists = keys.map((key) => textsIn(key.models).filter((name) => name !== "*"));
  const models = new Set(lists.flat());
  const kind = presetOf(vendor.kind)?.kind ?? vendor.kind as ProviderKind;
  if (models.size === 0 || lists.some((list) => list.length === 0)) {
    if (!listsModels(kind)) return config.drop(place, "its models cannot be listed; add them to models");
    const isFree = isOwnServer(vendor.kind);
    config.pattern(`${provider}/*`, isFree ? { pricing: "free" } : {});
    if (vendor.family === undefined && !isFree) {
      config.drop(place, `its models are not offered until the pattern "${provider}/*" has "pricing"`);
    }
  }
  for (const name of models) addModel(config, vendor, { provider, name });
  for (const [index, key] of keys.entries()) {
    if (listIn(key.blacklisted_models).length > 0) {
      config.drop(`${place}.keys[${index}].blacklisted_models`, "it has no counterpart");
    }
  }
}

function addModel(
  config: ImportedConfig,
  vendor: ImportedVendor,
  { provider, name }: { readonly provider: string; readonly name: string },
): void {
  const imported = config.model(`${provider}/${name}`);
  if (imported.serves.length > 0) return;
  imported.serves.push({ provider, model: name });
  const builtIn = vendor.family === undefined ? null : builtInFields(vendor.family, name);
  const pricing = builtIn?.pricing as Written | undefined;
  if (pricing !== undefined) imported.fields = { pricing };
  imported.isOwn = isOwnServer(vendor.kind);
}

/** Every key of Azure has an address of its own, so each becomes a provider. */
function readAzure(config: ImportedConfig, keys: readonly SourceMap[], place: string): string | null {
  let first: string | null = null;
  for (const [index, key] of keys.entries()) {
    const at = `${place}.keys[${index}]`;
    const azure = mapIn(key.azure_key_config);
    const [endpoint, value] = [textIn(azure.endpoint), textIn(key.value)];
    if (endpoint === null || value === null) {
      config.drop(at, "it has no endpoint or no key; Entra ID is not carried");
      continue;
    }
    if (azure.api_version !== undefined) config.drop(`${at}.api_version`, "deployments are called by the v1 API");
    const provider = config.provider("azure", {
      kind: "azure",
      base_url: config.address(endpoint.replace(/\/+$/, "")),
      api_key: config.secret(value, "AZURE_API_KEY"),
    });
    first ??= provider;
    const deployments = Object.entries(mapIn(azure.deployments ?? mapIn(key.aliases)));
    if (deployments.length === 0) config.drop(at, "it has no deployments; add their models");
    for (const [name, deployment] of deployments) {
      const imported = config.model(`azure/${name}`);
      const weight = numberIn(key.weight);
      if (imported.serves.some((each) => each.provider === provider)) continue;
      imported.serves.push({
        provider,
        model: textIn(deployment) ?? name,
        ...(weight !== null && weight >= 0 && weight !== 1 && { weight }),
      });
      const pricing = builtInFields("openai", name)?.pricing as Written | undefined;
      if (pricing !== undefined) imported.fields = { pricing };
    }
  }
  return first;
}

/** A virtual key becomes an account with one key, which has its limits. */
function readGovernance(config: ImportedConfig, names: ReadonlyMap<string, string>, governance: SourceMap): void {
  const budgets = byId(governance.budgets);
  const limits = byId(governance.rate_limits);
  const ids = new Set<string>();
  for (const [index, value] of listIn(governance.virtual_keys).entries()) {
    const entry = mapIn(value);
    const place = `governance.virtual_keys[${index}]`;
    const id = (textIn(entry.name) ?? textIn(entry.id) ?? "").replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 64);
    const key = textIn(entry.value);
    if (!isAccountId(id) || ids.has(id)) {
      config.drop(place, "it has no name of its own");
      continue;
    }
    ids.add(id);
    if (entry.is_active === false) config.drop(place, "it is not active, and its account has no key");
    const isShort = key !== null && !VARIABLE.test(key) && key.length < MIN_KEY;
    if (isShort) config.drop(`${place}.value`, `it is shorter than ${MIN_KEY} characters; create a key for "${id}"`);
    const settings = keySettings({ config, place, entry, names, budgets, limits });
    const isCarried = key !== null && !isShort && entry.is_active !== false;
    config.account({
      id,
      ...(isCarried && { keys: [{ key: config.secret(key, `${id}_KEY`), name: id.slice(0, 60), ...settings }] }),
    });
    config.drop(place, `the balance of the account "${id}" is 0: add to it by "switchyard accounts credit ${id} USD"`);
  }
  const read = ["virtual_keys", "budgets", "rate_limits"];
  for (const section of Object.keys(governance)) {
    if (
      !read.includes(section) && listIn(governance[section]).length + Object.keys(mapIn(governance[section])).length > 0
    ) {
      config.drop(`governance.${section}`, "it has no counterpart");
    }
  }
}

function byId(value: unknown): ReadonlyMap<string, SourceMap> {
  return new Map(
    listIn(value).map(mapIn).flatMap((each) => {
      const id = textIn(each.id);
      return id === null ? [] : [[id, each]];
    }),
  );
}

const PERIODS: Readonly<Record<string, string>> = {
  "1d": "day",
  "24h": "day",
  "1w": "week",
  "7d": "week",
  "1M": "month",
};

function keySettings({ config, place, entry, names, budgets, limits }: {
  readonly config: ImportedConfig;
  readonly place: string;
  readonly entry: SourceMap;
  readonly names: ReadonlyMap<string, string>;
  readonly budgets: ReadonlyMap<string, SourceMap>;
  readonly limits: ReadonlyMap<string, SourceMap>;
}): Record<string, Written> {
  const settings: Record<string, Written> = {};
  const providers: string[] = [];
  const models: string[] = [];
  for (const [index, value] of listIn(entry.provider_configs).entries()) {
    const each = mapIn(value);
    const at = `${place}.provider_configs[${index}]`;
    const name = textIn(each.provider);
    const provider = names.get(name ?? "");
    if (provider === undefined) config.drop(at, "its provider is not carried");
    else {
      providers.push(provider);
      const allowed = textsIn(each.allowed_models);
      models.push(...(allowed.length === 0 ? ["*"] : allowed).map((model) => `${provider}/${model}`));
    }
    if (textsIn(each.key_ids).some((key) => key !== "*")) {
      config.drop(`${at}.key_ids`, "the key may use every credential of the provider");
    }
  }
  if (providers.length === 0) config.drop(place, "it names no provider that is carried: the key may use all of them");
  if (models.some((model) => !model.endsWith("/*"))) settings.models = [...new Set(models)];
  if (providers.length > 0) settings.providers = [...new Set(providers)];
  const budget = budgets.get(textIn(entry.budget_id) ?? "") ?? mapIn(listIn(entry.budgets)[0]);
  const amount = numberIn(budget.max_limit);
  const period = PERIODS[textIn(budget.reset_duration) ?? ""];
  if (amount !== null && period !== undefined) settings.budget = { amount: String(amount), per: period };
  else if (amount !== null) config.drop(`${place}, its budget`, "its period is not a day, a week or a month");
  const limit = limits.get(textIn(entry.rate_limit_id) ?? "") ?? mapIn(entry.rate_limit);
  for (const [of, to] of [["request", "rpm"], ["token", "tpm"]] as const) {
    const count = numberIn(limit[`${of}_max_limit`]);
    if (count === null) continue;
    if (textIn(limit[`${of}_reset_duration`]) === "1m") settings[to] = Math.floor(count);
    else config.drop(`${place}, its limit of ${of}s`, "its period is not a minute");
  }
  return settings;
}
