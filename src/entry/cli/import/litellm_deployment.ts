import { bedrockModelOf } from "./bedrock.ts";
import type { ImportedConfig, ImportedModel, Written } from "./imported_config.ts";
import { callingVendor, isProviderField, limitsOf, providerFields } from "./litellm_provider.ts";
import { modelFields, useOf, whyNotServed } from "./model_fields.ts";
import type { ModelUse } from "../../../vendors/prices/model_use.ts";
import { mapIn, numberIn, type SourceMap, textIn } from "../../../vendors/prices/source_values.ts";
import {
  canListModels,
  type ImportedVendor,
  isOwnServer,
  providerNameFor,
  vendorNamed,
  vendorOfBareName,
} from "./vendors.ts";

/** An entry of `model_list`. */
export interface Deployment {
  readonly config: ImportedConfig;
  /** The model of each model_name, or the target of an alias for one with a star. */
  readonly groups: Map<string, ImportedModel | string>;
  readonly credentials: ReadonlyMap<string, SourceMap>;
  readonly place: string;
  /** `model_name`. */
  readonly name: string;
  /** Every `model_name` of the file. */
  readonly names: ReadonlySet<string>;
  readonly entry: SourceMap;
}

/** A deployment with its vendor. */
interface Called {
  readonly vendor: ImportedVendor;
  readonly vendorName: string;
  /** The vendor's name of the model. */
  readonly model: string;
  readonly params: SourceMap;
  readonly info: SourceMap;
}

/** Adds a deployment to its model, or notes why it is left out. */
export function readDeployment(deployment: Deployment): void {
  const { config, credentials, place, entry } = deployment;
  const own = mapIn(entry.litellm_params);
  const params: SourceMap = {
    ...credentials.get(textIn(own.litellm_credential_name) ?? ""),
    ...(entry.rpm !== undefined && { rpm: entry.rpm }), // also accepted beside litellm_params
    ...(entry.tpm !== undefined && { tpm: entry.tpm }),
    ...own,
  };
  const info = mapIn(entry.model_info);
  const named = textIn(params.model) ?? "";
  const { vendorName, model } = splitModel(named, textIn(params.custom_llm_provider));
  const known = vendorNamed(vendorName ?? "");
  if (known === null || vendorName === null) {
    return config.drop(place, `the vendor of "${named}" is not one that is imported`);
  }
  if (model === "") return config.drop(place, "it names no model of the vendor");
  if (info.team_id !== undefined) {
    return config.drop(place, "it belongs to one team; add it, and limit the keys that may use it");
  }
  const called = calledModel({ vendor: callingVendor(known, model), vendorName, model, params, info });
  if (called === null) return config.drop(place, `the format of "${model}" at Bedrock is not served`);
  if (model.includes("*")) addPattern(deployment, called);
  else addModel(deployment, called);
}

/** The same with the vendor's name of the model; null if the vendor is not called in its format. */
function calledModel(called: Called): Called | null {
  const { vendor, model, params, info } = called;
  if (vendor.kind !== "bedrock") return called;
  const read = bedrockModelOf(model, textIn(info.base_model));
  if (read === null) return null;
  const region = params.aws_region_name ?? read.region;
  return { ...called, model: read.model, params: { ...params, ...region !== null && { aws_region_name: region } } };
}

function splitModel(named: string, stated: string | null): { vendorName: string | null; model: string } {
  const slash = named.indexOf("/");
  const prefix = slash < 0 ? null : named.slice(0, slash);
  if (stated !== null) return { vendorName: stated, model: prefix === stated ? named.slice(slash + 1) : named };
  if (prefix === null) return { vendorName: vendorOfBareName(named), model: named };
  return { vendorName: prefix, model: named.slice(slash + 1) };
}

function addModel({ config, groups, place, name, names }: Deployment, called: Called): void {
  const { vendor, vendorName, model, params, info } = called;
  // The model behind a deployment, whose name tells nothing.
  const base = { vendor, model: textIn(info.base_model)?.replace(/^.*\//, "") ?? model };
  const mode = textIn(info.mode);
  const use = useOf(base, mode);
  if (use === null) {
    return config.drop(place, mode === null ? `"${model}" is not served` : `mode ${mode} is not served`);
  }
  const why = whyNotServed(base, use);
  if (why !== null) return config.drop(place, why);
  const group = groups.get(name);
  if (group !== undefined && (typeof group === "string" || group.use !== use)) {
    return config.drop(place, `it is not of the same use as the other deployments of "${name}"`);
  }
  const limits = limitsOf(config, params, place);
  const fields = limits === null ? null : providerFields(config, { vendor, use, params, place });
  if (limits === null || fields === null) return;
  dropFields(config, called, place);
  const imported = group ??
    (name.includes("/") ? config.newModel(name, use) : config.newModel(`${vendorName}/${name}`, use, names));
  groups.set(name, imported);
  const taken = new Set(imported.serves.map(({ provider }) => provider));
  // A limit is that of one deployment, so its provider serves no other model.
  const provider = config.provider(
    Object.keys(limits).length === 0 ? providerNameFor(vendor, use, vendorName) : `${vendorName}-${name}`,
    { ...fields, ...limits },
    taken,
  );
  const weight = numberIn(params.weight);
  if (params.weight !== undefined && weight === null) config.drop(place, "weight is no number");
  imported.serves.push({ provider, model, ...(weight !== null && weight >= 0 && { weight }) });
  config.alias(name, imported.id, place);
  addFacts(config, { place, base, use, facts: { ...params, ...info }, imported });
}

function addFacts(config: ImportedConfig, { place, base, use, facts, imported }: {
  readonly place: string;
  readonly base: { readonly vendor: ImportedVendor; readonly model: string };
  readonly use: ModelUse;
  readonly facts: SourceMap;
  readonly imported: ImportedModel;
}): void {
  const { fields, isPriced, droppedPrices } = modelFields(base, use, facts);
  for (const field of droppedPrices) config.drop(place, `${field} has no counterpart`);
  if (imported.fields.pricing !== undefined) return;
  imported.fields = fields;
  imported.isPriced = isPriced;
}

function addPattern({ config, groups, place, name }: Deployment, called: Called): void {
  const { vendor, vendorName, model, params } = called;
  if (!/^[^*]*\*$/.test(model) || !canListModels(vendor)) {
    return config.drop(place, `the models of "${model}" at ${vendorName} cannot be listed; add them by name`);
  }
  if (groups.has(name)) return config.drop(place, "a pattern has one provider, and the first one is carried");
  const limits = limitsOf(config, params, place);
  const fields = limits === null ? null : providerFields(config, { vendor, use: "text", params, place });
  if (limits === null || fields === null) return;
  dropFields(config, called, place);
  const provider = config.provider(vendorName, { ...fields, ...limits });
  const id = `${provider}/${model}`;
  const own: Record<string, Written> = isOwnServer(vendor.kind) ? { pricing: "free" } : {};
  config.pattern(id, own);
  groups.set(name, id);
  if (name.includes("*")) config.alias(name, id, place);
  else config.drop(place, "a model that stands for many has no single name");
  if (vendor.family === undefined && !isOwnServer(vendor.kind)) {
    config.drop(place, `its models are not offered until the pattern "${id}" has "pricing"`);
  }
}

/** The fields of a deployment that are read at every vendor. */
const READ_FIELDS = new Set(["model", "custom_llm_provider", "litellm_credential_name", "weight"]);
/** Facts of a model that change nothing here, or that are read. Prices are recognized by their names. */
const READ_FACTS = /^(id|mode|base_model|db_model|description|max_|supports_|supported_|output_vector_size|.*_cost)/;

function dropFields(config: ImportedConfig, { vendor, params, info }: Called, place: string): void {
  for (const field of Object.keys(params)) {
    if (!READ_FIELDS.has(field) && !isProviderField(vendor, field) && !/_cost/.test(field)) {
      config.drop(place, `${field} has no counterpart`);
    }
  }
  for (const field of Object.keys(info)) {
    if (!READ_FACTS.test(field)) config.drop(place, `model_info.${field} has no counterpart`);
  }
}
