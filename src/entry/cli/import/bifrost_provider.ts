import { keyProvider, readKey, type SourceKey } from "./bifrost_key.ts";
import type { NamedModel } from "./bifrost_models.ts";
import type { ImportedConfig, Written } from "./imported_config.ts";
import { modelFields, useOf, whyNotServed } from "./model_fields.ts";
import type { ModelUse } from "../../../vendors/prices/model_use.ts";
import { listIn, mapIn, numberIn, type SourceMap, textIn } from "../../../vendors/prices/source_values.ts";
import { baseUrlOf, canListModels, type ImportedVendor, isOwnServer, providerNameFor, vendorNamed } from "./vendors.ts";

/** A provider of the source as far as it is carried, for the keys that may use it. */
export interface CarriedProvider {
  /** The first part of the ids of its models. */
  readonly prefix: string;
  /** Its keys. */
  readonly keys: readonly CarriedKey[];
  /** All of its providers. */
  readonly providers: ReadonlySet<string>;
  /** The names of its models, without the prefix. */
  readonly models: ReadonlySet<string>;
  /** Whether it serves all models that the vendor lists. */
  readonly hasPattern: boolean;
}

/** A key of a provider as far as it is carried. */
export interface CarriedKey {
  /** Its id and its name in the source. */
  readonly names: readonly string[];
  /** The providers that it became; several keys can be one provider. */
  readonly providers: Set<string>;
}

/** A provider of the source. */
export interface SourceProvider {
  readonly name: string;
  readonly entry: SourceMap;
  /** Whether an empty list of models stands for all. */
  readonly emptyAllowsAll: boolean;
}

interface Collected extends CarriedProvider {
  readonly keys: CarriedKey[];
  readonly providers: Set<string>;
  readonly models: Set<string>;
  hasPattern: boolean;
}

/** Adds a provider, or one for each of its keys, with their models. Null if none is carried, which is in the report. */
export function readProvider(config: ImportedConfig, source: SourceProvider): CarriedProvider | null {
  const { name, entry } = source;
  const place = `providers.${name}`;
  const base = textIn(mapIn(entry.custom_provider_config).base_provider_type);
  const vendor = vendorNamed(base ?? name) ?? vendorNamed(`${name}_ai`);
  if (vendor === null || vendor.name === "azure_ai") {
    config.drop(place, "the vendor is not one that is imported");
    return null;
  }
  const collected: Collected = {
    prefix: name.toLowerCase(),
    keys: [],
    providers: new Set(),
    models: new Set(),
    hasPattern: false,
  };
  const keys = listIn(entry.keys).map(mapIn).flatMap((key, index) =>
    readKey(config, { key, index, place: `${place}.keys[${index}]` }, source.emptyAllowsAll) ?? []
  );
  const common = commonFields(config, entry, place);
  const group: KeyGroup = { config, source, vendor, place, common, collected };
  if (hasOwnAddresses(vendor, keys)) {
    for (const key of keys) addKeyProvider(group, key);
  } else addSharedProvider(group, keys);
  return collected.providers.size === 0 ? null : collected;
}

interface KeyGroup {
  readonly config: ImportedConfig;
  readonly source: SourceProvider;
  readonly vendor: ImportedVendor;
  readonly place: string;
  /** The fields of the provider that do not depend on the key. */
  readonly common: Record<string, Written>;
  readonly collected: Collected;
}

/** Whether each key has an address or an account of its own, so that each becomes a provider. */
function hasOwnAddresses({ kind }: ImportedVendor, keys: readonly SourceKey[]): boolean {
  return kind === "azure" || kind === "vertex" || kind === "bedrock" ||
    keys.some(({ key }) => Object.keys(key).some((field) => /^(ollama|vllm|sgl)_key_config$/.test(field)));
}

function commonFields(config: ImportedConfig, entry: SourceMap, place: string): Record<string, Written> {
  const network = mapIn(entry.network_config);
  const [timeout, idle] = [
    numberIn(network.default_request_timeout_in_seconds),
    numberIn(network.stream_idle_timeout_in_seconds),
  ];
  const timeouts = {
    ...(timeout !== null && timeout > 0 && { first_byte: timeout }),
    ...(idle !== null && idle > 0 && { idle }),
  };
  const headers = Object.entries(mapIn(network.extra_headers)).flatMap(([header, value]) => {
    const text = textIn(value);
    return text === null ? [] : [[header, config.secret(text, `HEADER_${header}`)]];
  });
  const concurrency = numberIn(mapIn(entry.concurrency_and_buffer_size).concurrency);
  const known = ["base_url", "default_request_timeout_in_seconds", "stream_idle_timeout_in_seconds", "extra_headers"];
  for (const field of Object.keys(network)) {
    if (!known.includes(field)) config.drop(`${place}.network_config.${field}`, "it has no counterpart");
  }
  for (const field of Object.keys(mapIn(entry.custom_provider_config))) {
    if (field !== "base_provider_type") {
      config.drop(`${place}.custom_provider_config.${field}`, "it has no counterpart");
    }
  }
  const read = ["keys", "network_config", "concurrency_and_buffer_size", "custom_provider_config"];
  for (const field of Object.keys(entry)) {
    if (!read.includes(field)) config.drop(`${place}.${field}`, "it has no counterpart");
  }
  return {
    ...(Object.keys(timeouts).length > 0 && { timeouts }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(concurrency !== null && concurrency >= 1 && { concurrency: Math.floor(concurrency) }),
  };
}

function addKeyProvider(group: KeyGroup, key: SourceKey): void {
  const { config, source, vendor, common } = group;
  const weight = numberIn(key.key.weight);
  const share = weight !== null && weight >= 0 && weight !== 1 ? { weight } : {};
  for (const [name, model] of key.models.names) {
    const use = servedUse(group, name, model, key.place);
    if (use === null) continue;
    const fields = keyProvider(config, vendor, { ...key, use, model: model.known });
    if (fields === null) return;
    const provider = config.provider(source.name, { ...fields, ...common });
    addModel(group, { provider, name, model, use, key, share });
  }
  if (!key.models.isAll) return;
  if (!canListModels(vendor)) return config.drop(key.place, "its models cannot be listed; add them to models");
  const fields = keyProvider(config, vendor, { ...key, use: "text", model: "" });
  if (fields !== null) addPattern(group, config.provider(source.name, { ...fields, ...common }), [key]);
}

/** One key becomes `api_key`, several become `credentials` with their weights. */
function addSharedProvider(group: KeyGroup, keys: readonly SourceKey[]): void {
  const { config, source, vendor, place, common, collected } = group;
  const usable = keys.filter(({ key, place: at }) => {
    const isUsable = textIn(key.value) !== null || vendor.keyName === null;
    if (!isUsable) config.drop(at, "it has no value");
    return isUsable;
  });
  const lists = new Set(usable.map(({ models }) => JSON.stringify([[...models.names.keys()].sort(), models.isAll])));
  if (lists.size > 1) config.drop(`${place}.keys`, "each credential serves all models of the provider");
  const address = textIn(mapIn(source.entry.network_config).base_url);
  const secrets = credentialsOf(config, vendor, source.name, usable);
  const providerFor = (use: ModelUse) => {
    const base = baseUrlOf(vendor, use, address, (text) => versioned(vendor, config.address(text)));
    return config.provider(providerNameFor(vendor, use, source.name), {
      kind: vendor.kind,
      ...(base !== null && { base_url: base }),
      ...common,
      ...secrets,
    });
  };
  for (const key of usable) {
    for (const [name, model] of key.models.names) {
      const use = servedUse(group, name, model, place);
      if (use === null) continue;
      const provider = providerFor(use);
      // Requests for the model can be sent with each of the keys.
      for (const each of usable) noteProvider(collected, each, provider);
      addModel(group, { provider, name, model, use, key, share: {} });
    }
  }
  const open = usable.filter(({ models }) => models.isAll);
  if (open.length === 0) return;
  if (canListModels(vendor)) addPattern(group, providerFor("text"), usable);
  else config.drop(place, "its models cannot be listed; add them to models");
}

/** The base address of Bifrost has no version for vendors of the default protocol. */
function versioned(vendor: ImportedVendor, address: string): string {
  const hasVersion = vendor.kind === "anthropic" || vendor.kind === "google" || vendor.addedPaths !== undefined ||
    vendor.addedPath !== undefined || /\/v\d+$/.test(address);
  return hasVersion ? address : `${address}/v1`;
}

function credentialsOf(
  config: ImportedConfig,
  vendor: ImportedVendor,
  name: string,
  keys: readonly SourceKey[],
): Record<string, Written> {
  const secrets = keys.flatMap((each) => {
    const value = textIn(each.key.value);
    return value === null ? [] : [{ ...each, secret: config.secret(value, `${name}_API_KEY`) }];
  });
  const [first] = secrets;
  if (first === undefined) return vendor.keyName === null ? {} : { api_key: config.variable(vendor.keyName) };
  if (secrets.length === 1) return { api_key: first.secret };
  const names = new Set<string>();
  return {
    credentials: secrets.map(({ key, index, secret }): Written => {
      const wanted = (textIn(key.name) ?? `key-${index + 1}`).toLowerCase().replaceAll(/[^a-z0-9._-]/g, "-")
        .slice(0, 60);
      const own = names.has(wanted) ? `${wanted}-${index + 1}` : wanted;
      names.add(own);
      const weight = numberIn(key.weight);
      return { name: own, api_key: secret, ...(weight !== null && weight >= 0 && weight !== 1 && { weight }) };
    }),
  };
}

/** What a model is for; null, with a note, if it is not served. */
function servedUse({ config, vendor }: KeyGroup, name: string, { known }: NamedModel, place: string): ModelUse | null {
  const use = useOf({ vendor, model: known }, null);
  const why = use === null ? "it is not served" : whyNotServed({ vendor, model: known }, use);
  if (why === null) return use;
  config.drop(`${place}, model ${name}`, why);
  return null;
}

function addModel({ config, vendor, collected }: KeyGroup, { provider, name, model, use, key, share }: {
  readonly provider: string;
  readonly name: string;
  readonly model: NamedModel;
  readonly use: ModelUse;
  readonly key: SourceKey;
  readonly share: { readonly weight?: number };
}): void {
  const imported = config.model(`${collected.prefix}/${name}`, use);
  noteProvider(collected, key, provider);
  collected.models.add(name);
  if (imported.serves.some((each) => each.provider === provider)) return;
  imported.serves.push({ provider, model: model.model, ...share });
  const { fields, isPriced } = modelFields({ vendor, model: model.known }, use, {});
  imported.fields = fields;
  imported.isPriced = isPriced;
}

function addPattern(group: KeyGroup, provider: string, keys: readonly SourceKey[]): void {
  const { config, vendor, place, collected } = group;
  const isFree = isOwnServer(vendor.kind);
  config.pattern(`${provider}/*`, isFree ? { pricing: "free" } : {});
  for (const key of keys) noteProvider(collected, key, provider);
  collected.hasPattern = true;
  if (vendor.family === undefined && !isFree) {
    config.drop(place, `its models are not offered until the pattern "${provider}/*" has "pricing"`);
  }
}

function noteProvider({ keys, providers }: Collected, { names }: SourceKey, provider: string): void {
  providers.add(provider);
  const known = keys.find((each) => each.names === names);
  if (known === undefined) keys.push({ names, providers: new Set([provider]) });
  else known.providers.add(provider);
}
