import { builtInFields } from "../../catalog/built_in.ts";
import { MAX_FALLBACKS } from "../../catalog/model.ts";
import { listsModels, presetOf, type ProviderKind } from "../../upstreams/kinds.ts";
import { ImportedConfig, type ImportedModel, type ImportResult, type Written } from "./imported_config.ts";
import { readPrices } from "./prices.ts";
import { listIn, mapIn, numberIn, type SourceMap, textIn, textsIn } from "./source.ts";
import { type ImportedVendor, isOwnServer, vendorNamed, vendorOfBareName } from "./vendors.ts";

/** `os.environ/NAME` is the environment variable `NAME`. Source: LiteLLM, "Config.yaml". */
const VARIABLE = /^os\.environ\/(.+)$/;

/** The fields of a deployment that are carried. Prices are recognized by their names. */
const KNOWN_FIELDS = new Set([
  "model",
  "api_key",
  "api_base",
  "base_url",
  "api_version",
  "custom_llm_provider",
  "extra_headers",
  "litellm_credential_name",
  "max_parallel_requests",
  "rpm",
  "timeout",
  "tpm",
  "weight",
]);

/** The modes of models that the text endpoints serve. */
const TEXT_MODES = new Set(["chat", "responses"]);
const OTHER_MODELS = /embed|whisper|rerank|moderation|dall-e|gpt-image|imagen|tts|transcribe|speech|instruct$/;

/** Imports the `config.yaml` of a LiteLLM proxy. */
export function importLitellm(source: unknown, name: string): ImportResult {
  const root = mapIn(source);
  const config = new ImportedConfig((text) => VARIABLE.exec(text)?.[1] ?? null);
  const groups = new Map<string, ImportedModel | string>();
  const credentials = credentialsIn(root);
  for (const [index, entry] of listIn(root.model_list).entries()) {
    const model = textIn(mapIn(entry).model_name);
    const place = `model_list[${index}]${model === null ? "" : ` (${model})`}`;
    if (model === null) config.drop(place, "it has no model_name");
    else readDeployment({ config, groups, credentials, place, name: model, entry: mapIn(entry) });
  }
  readAliases(config, groups, mapIn(root.router_settings));
  for (const section of ["litellm_settings", "router_settings"]) readFallbacks(config, groups, root, section);
  readGeneralSettings(config, mapIn(root.general_settings));
  dropSections(config, root);
  return config.finish(name);
}

interface Deployment {
  readonly config: ImportedConfig;
  /** The model of each model_name, or the target of an alias for one with a star. */
  readonly groups: Map<string, ImportedModel | string>;
  readonly credentials: ReadonlyMap<string, SourceMap>;
  readonly place: string;
  readonly name: string;
  readonly entry: SourceMap;
}

function readDeployment(deployment: Deployment): void {
  const { config, credentials, place, entry } = deployment;
  const own = { ...mapIn(entry.litellm_params) };
  const params: SourceMap = {
    ...credentials.get(textIn(own.litellm_credential_name) ?? ""),
    ...(entry.rpm !== undefined && { rpm: entry.rpm }), // also accepted beside litellm_params
    ...(entry.tpm !== undefined && { tpm: entry.tpm }),
    ...own,
  };
  const info = mapIn(entry.model_info);
  const named = textIn(params.model) ?? "";
  const { vendorName, model } = splitModel(named, textIn(params.custom_llm_provider));
  const isAzure = vendorName === "azure";
  const vendor = isAzure ? AZURE : vendorNamed(vendorName ?? "");
  if (vendor === null) {
    return config.drop(place, `the vendor of "${named}" is not one that is imported`);
  }
  const mode = textIn(info.mode);
  if (mode === null ? OTHER_MODELS.test(model) : !TEXT_MODES.has(mode)) {
    return config.drop(place, mode === null ? `"${model}" is no model for text` : `mode ${mode} is not served`);
  }
  if (model === "") return config.drop(place, "it names no model of the vendor");
  const provider = isAzure ? azureProvider(config, params, place) : providerFields(config, vendor, params);
  if (provider === null) return;
  dropFields(config, params, place);
  if (model.includes("*")) return addPattern(deployment, vendor, { fields: provider, model, vendorName });
  addServing(deployment, vendor, { fields: provider, model, vendorName, params, info });
}

/** Deployments are called by the v1 API, which is the default protocol. The prices are those of the base model. */
const AZURE: ImportedVendor = { kind: "azure", family: "openai", keyName: "AZURE_API_KEY" };

interface Target {
  readonly fields: Record<string, Written>;
  readonly model: string;
  readonly vendorName: string | null;
}

function addServing(
  { config, groups, place, name }: Deployment,
  vendor: ImportedVendor,
  { fields, model, vendorName, params, info }: Target & { readonly params: SourceMap; readonly info: SourceMap },
): void {
  const limited = limitsOf(params);
  const known = groups.get(name);
  const imported = typeof known === "object"
    ? known
    : config.model(name.includes("/") ? name : `${vendorName}/${name}`);
  groups.set(name, imported);
  const taken = new Set(imported.serves.map(({ provider }) => provider));
  // A limit is that of one deployment, so its provider serves no other model.
  const provider = config.provider(
    Object.keys(limited).length === 0 ? vendorName ?? "" : `${vendorName}-${name}`,
    { ...fields, ...limited },
    taken,
  );
  const weight = numberIn(params.weight);
  imported.serves.push({ provider, model, ...(weight !== null && weight >= 0 && { weight }) });
  config.alias(name, imported.id, place);
  addFacts({ config, place, vendor, model, info, params, imported });
}

function addFacts({ config, place, vendor, model, info, params, imported }: {
  readonly config: ImportedConfig;
  readonly place: string;
  readonly vendor: ImportedVendor;
  readonly model: string;
  readonly info: SourceMap;
  readonly params: SourceMap;
  readonly imported: ImportedModel;
}): void {
  const { pricing, tiers, dropped } = readPrices({ ...params, ...info });
  for (const field of dropped) config.drop(place, `${field} has no counterpart`);
  const base = textIn(info.base_model)?.replace(/^.*\//, "") ?? model;
  const builtIn = vendor.family === undefined ? null : builtInFields(vendor.family, base);
  if (imported.fields.pricing !== undefined) return;
  if (pricing !== null) {
    imported.fields = { pricing, ...(Object.keys(tiers).length > 0 && { pricing_tiers: tiers }) };
    const context = numberIn(info.max_input_tokens);
    if (context !== null && context > 0) imported.fields.context_length = context;
  } else if (builtIn !== null) {
    imported.fields = factsOf(builtIn);
  }
  imported.isOwn = isOwnServer(vendor.kind);
}

const FACTS = ["context_length", "architecture", "pricing", "pricing_tiers", "top_provider", "supported_parameters"];

function factsOf(builtIn: Readonly<Record<string, unknown>>): Record<string, Written> {
  return Object.fromEntries(
    FACTS.flatMap((name) => builtIn[name] === undefined ? [] : [[name, builtIn[name] as Written]]),
  );
}

function addPattern({ config, groups, place, name }: Deployment, vendor: ImportedVendor, target: Target): void {
  const { fields, model, vendorName } = target;
  const kind = presetOf(vendor.kind)?.kind ?? vendor.kind as ProviderKind;
  if (!/^[^*]*\*$/.test(model) || !listsModels(kind)) {
    return config.drop(place, `the models of "${model}" cannot be listed`);
  }
  const provider = config.provider(vendorName ?? "", fields);
  const id = `${provider}/${model}`;
  config.pattern(id, isOwnServer(vendor.kind) ? { pricing: "free" } : {});
  groups.set(name, id);
  if (name.includes("*")) config.alias(name, id, place);
  else config.drop(place, "a model that stands for many has no single name");
  if (vendor.family === undefined && !isOwnServer(vendor.kind)) {
    config.drop(place, `its models are not offered until the pattern "${id}" has "pricing"`);
  }
}

function providerFields(
  config: ImportedConfig,
  vendor: ImportedVendor,
  params: SourceMap,
): Record<string, Written> | null {
  const address = textIn(params.api_base) ?? textIn(params.base_url);
  const key = textIn(params.api_key);
  const fields: Record<string, Written> = { kind: vendor.kind };
  if (address !== null) {
    const trimmed = address.replace(/\/+$/, "").replace(vendor.removedPath ?? /$^/, "");
    const added = vendor.addedPath ?? "";
    fields.base_url = config.address(trimmed) + (trimmed.endsWith(added) ? "" : added);
  }
  if (key !== null) fields.api_key = config.secret(key, vendor.keyName ?? `${vendor.kind}_API_KEY`);
  else if (vendor.keyName !== null) fields.api_key = config.variable(vendor.keyName);
  addCommonFields(config, params, fields);
  return fields;
}

function azureProvider(
  config: ImportedConfig,
  params: SourceMap,
  place: string,
): Record<string, Written> | null {
  const address = textIn(params.api_base) ?? textIn(params.base_url);
  const base = address === null ? config.variable("AZURE_API_BASE") : config.address(originOfAzure(address));
  const key = textIn(params.api_key);
  const secret = key === null ? config.variable("AZURE_API_KEY") : config.secret(key, "AZURE_API_KEY");
  if (params.api_version !== undefined) config.drop(place, "api_version: deployments are called by the v1 API");
  const fields: Record<string, Written> = { kind: "azure", base_url: base, api_key: secret };
  addCommonFields(config, params, fields);
  return fields;
}

function originOfAzure(address: string): string {
  return address.replace(/\/openai(\/.*)?$/, "").replace(/\/+$/, "");
}

function addCommonFields(config: ImportedConfig, params: SourceMap, fields: Record<string, Written>): void {
  const headers = Object.entries(mapIn(params.extra_headers)).flatMap(([name, value]) => {
    const text = textIn(value);
    return text === null ? [] : [[name, config.secret(text, `HEADER_${name}`)] as const];
  });
  if (headers.length > 0) fields.headers = Object.fromEntries(headers);
  const timeout = numberIn(params.timeout);
  if (timeout !== null && timeout > 0) fields.timeouts = { first_byte: timeout };
}

/** Limits of a deployment, as those of its provider. */
function limitsOf(params: SourceMap): Record<string, Written> {
  const limits: Record<string, Written> = {};
  for (const [from, to] of [["rpm", "rpm"], ["tpm", "tpm"], ["max_parallel_requests", "concurrency"]] as const) {
    const limit = numberIn(params[from]);
    if (limit !== null && limit >= 1) limits[to] = Math.floor(limit);
  }
  return limits;
}

function dropFields(config: ImportedConfig, params: SourceMap, place: string): void {
  for (const field of Object.keys(params)) {
    if (!KNOWN_FIELDS.has(field) && !/_cost/.test(field)) config.drop(place, `${field} has no counterpart`);
  }
}

function splitModel(named: string, stated: string | null): { vendorName: string | null; model: string } {
  const slash = named.indexOf("/");
  const prefix = slash < 0 ? null : named.slice(0, slash);
  if (stated !== null) return { vendorName: stated, model: prefix === stated ? named.slice(slash + 1) : named };
  if (prefix === null) return { vendorName: vendorOfBareName(named), model: named };
  return { vendorName: prefix, model: named.slice(slash + 1) };
}

function credentialsIn(root: SourceMap): ReadonlyMap<string, SourceMap> {
  return new Map(
    listIn(root.credential_list).map(mapIn).flatMap((each) => {
      const name = textIn(each.credential_name);
      return name === null ? [] : [[name, mapIn(each.credential_values)]];
    }),
  );
}

type Groups = Deployment["groups"];

function idOf(groups: Groups, name: string): string {
  const group = groups.get(name);
  return typeof group === "object" ? group.id : group ?? name;
}

function readAliases(config: ImportedConfig, groups: Groups, router: SourceMap): void {
  for (const [name, value] of Object.entries(mapIn(router.model_group_alias))) {
    const target = textIn(value) ?? textIn(mapIn(value).model);
    if (target !== null) config.alias(name, idOf(groups, target), `router_settings.model_group_alias.${name}`);
  }
}

/** Fallbacks after failures. Those for long contexts and refused contents have other causes. */
function readFallbacks(config: ImportedConfig, groups: Groups, root: SourceMap, section: string): void {
  const settings = mapIn(root[section]);
  for (const entry of listIn(settings.fallbacks)) {
    for (const [name, models] of Object.entries(mapIn(entry))) {
      const model = groups.get(name);
      const place = `${section}.fallbacks.${name}`;
      if (typeof model !== "object") config.drop(place, "its model is not carried");
      else {
        const ids = textsIn(models).map((each) => idOf(groups, each)).filter((id) => id !== model.id);
        model.fallbacks = [...new Set([...model.fallbacks, ...ids])].slice(0, MAX_FALLBACKS);
      }
    }
  }
  for (const other of ["default_fallbacks", "context_window_fallbacks", "content_policy_fallbacks"]) {
    if (settings[other] !== undefined) config.drop(`${section}.${other}`, "there are only fallbacks after failures");
  }
}

function readGeneralSettings(config: ImportedConfig, general: SourceMap): void {
  const key = textIn(general.master_key);
  if (key !== null) config.adminKey(key, "LITELLM_MASTER_KEY", "general_settings.master_key");
  for (const field of Object.keys(general)) {
    if (field === "master_key") continue;
    const why = field === "database_url"
      ? "keys, teams and budgets in LiteLLM's database are not read; create accounts and keys"
      : "it has no counterpart";
    config.drop(`general_settings.${field}`, why);
  }
}

const READ_SETTINGS = /(^|_)fallbacks$|^model_group_alias$/;

function dropSections(config: ImportedConfig, root: SourceMap): void {
  for (const section of ["litellm_settings", "router_settings"]) {
    for (const field of Object.keys(mapIn(root[section]))) {
      if (!READ_SETTINGS.test(field)) config.drop(`${section}.${field}`, "it has no counterpart");
    }
  }
  const read = new Set(["model_list", "litellm_settings", "router_settings", "general_settings", "credential_list"]);
  for (const section of Object.keys(root)) if (!read.has(section)) config.drop(section, "it has no counterpart");
}
