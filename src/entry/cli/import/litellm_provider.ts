import { bedrockFields } from "./bedrock.ts";
import { azureResource, entraIdOf, isAzureModelHost, vertexFields } from "./cloud_providers.ts";
import type { ImportedConfig, Written } from "./imported_config.ts";
import type { ModelUse } from "../../../vendors/prices/model_use.ts";
import { mapIn, numberIn, type SourceMap, textIn } from "../../../vendors/prices/source_values.ts";
import { AZURE_KEY_NAME, baseUrlOf, type ImportedVendor, vendorNamed } from "./vendors.ts";

/** The fields that {@linkcode providerFields} and {@linkcode limitsOf} carry, at any vendor. */
const PROVIDER_FIELDS = [
  "api_base",
  "api_key",
  "base_url",
  "extra_headers",
  "max_parallel_requests",
  "rpm",
  "timeout",
  "tpm",
];
const VERTEX_FIELDS = ["project", "location", "credentials"].flatMap((name) => [`vertex_${name}`, `vertex_ai_${name}`]);
const BEDROCK_FIELDS = [
  "aws_access_key_id",
  "aws_secret_access_key",
  "aws_session_token",
  "aws_region_name",
  "aws_bedrock_runtime_endpoint",
];
/** Ways to get a key that this gateway does not have. */
const AWS_ROLE_FIELDS = ["aws_role_name", "aws_profile_name", "aws_web_identity_token", "aws_external_id"];
const AZURE_FIELDS = ["api_version", "azure_ad_token", "azure_scope", "client_id", "client_secret", "tenant_id"];

/** Whether a field of `litellm_params` is read for a vendor. */
export function isProviderField(vendor: ImportedVendor, field: string): boolean {
  return PROVIDER_FIELDS.includes(field) ||
    (vendor.kind === "vertex" && VERTEX_FIELDS.includes(field)) ||
    (vendor.kind === "bedrock" && BEDROCK_FIELDS.includes(field)) ||
    (vendor.name.startsWith("azure") && AZURE_FIELDS.includes(field));
}

/** A model in the way that LiteLLM calls it. */
export interface CalledModel {
  readonly vendor: ImportedVendor;
  readonly use: ModelUse;
  /** `litellm_params`. */
  readonly params: SourceMap;
  /** In the source, for the report. */
  readonly place: string;
}

/** The vendor of a model as this gateway calls it: models of Anthropic at Azure have the format of their maker. */
export function callingVendor(vendor: ImportedVendor, model: string): ImportedVendor {
  const anthropic = vendorNamed("anthropic");
  return vendor.name === "azure_ai" && /^claude-/.test(model) && anthropic !== null
    ? { ...anthropic, name: vendor.name, keyName: vendor.keyName, listsModels: false }
    : vendor;
}

/** The fields of the provider, without limits. Null if it is not carried, which is in the report then. */
export function providerFields(config: ImportedConfig, called: CalledModel): Record<string, Written> | null {
  const { vendor } = called;
  const fields = vendor.kind === "vertex"
    ? vertexProvider(config, called)
    : vendor.kind === "bedrock"
    ? bedrockProvider(config, called)
    : vendor.name === "azure" || vendor.name === "azure_ai"
    ? azureProvider(config, called)
    : plainProvider(config, called);
  return fields === null ? null : { ...fields, ...commonFields(config, called) };
}

function plainProvider(config: ImportedConfig, { vendor, use, params, place }: CalledModel) {
  const address = addressIn(params);
  if (address === null && vendor.needsAddress) return dropped(config, place, "it has no api_base");
  const base = baseUrlOf(vendor, use, address, (text) => config.address(text));
  const key = textIn(params.api_key);
  return {
    kind: vendor.kind,
    ...(base !== null && { base_url: base }),
    ...(key !== null
      ? { api_key: config.secret(key, vendor.keyName ?? `${vendor.kind}_API_KEY`) }
      : vendor.keyName !== null && { api_key: config.variable(vendor.keyName) }),
  };
}

function vertexProvider(config: ImportedConfig, { params, place }: CalledModel) {
  const read = (name: string) => textIn(params[`vertex_${name}`]) ?? textIn(params[`vertex_ai_${name}`]);
  if (addressIn(params) !== null) config.drop(place, "api_base: Vertex AI is called at the address of the location");
  const credentials = mapIn(params.vertex_credentials);
  return vertexFields(config, {
    project: read("project"),
    location: read("location"),
    credentials: Object.keys(credentials).length > 0 ? JSON.stringify(credentials) : read("credentials"),
    apiKey: textIn(params.api_key),
  }, place);
}

function bedrockProvider(config: ImportedConfig, { params, place }: CalledModel) {
  const role = AWS_ROLE_FIELDS.find((field) => textIn(params[field]) !== null);
  if (role !== undefined) return dropped(config, place, `${role}: roles and profiles are not read; use an access key`);
  return bedrockFields(config, {
    apiKey: textIn(params.api_key),
    accessKey: textIn(params.aws_access_key_id),
    secretKey: textIn(params.aws_secret_access_key),
    sessionToken: textIn(params.aws_session_token),
    region: textIn(params.aws_region_name),
    address: textIn(params.aws_bedrock_runtime_endpoint) ?? addressIn(params),
  }, { place, program: "litellm" });
}

function azureProvider(config: ImportedConfig, { vendor, params, place }: CalledModel) {
  const address = addressIn(params);
  if (address !== null && isAzureModelHost(address)) {
    return dropped(config, place, "its address is that of a single model, which has no v1 API");
  }
  const keyName = vendor.keyName ?? AZURE_KEY_NAME;
  const base = address === null
    ? config.variable(keyName.replace(/_KEY$/, "_BASE"))
    : config.address(azureResource(address));
  const version = versionIn(config, params.api_version);
  if (version !== null && vendor.name !== "azure") {
    config.drop(place, "api_version: deployments are called by the v1 API");
  }
  const key = textIn(params.api_key);
  // A key has priority. Source: LiteLLM, `llms/azure/common_utils.py`.
  const entra = key !== null ? null : entraIdOf(config, {
    tenant: textIn(params.tenant_id),
    clientId: textIn(params.client_id),
    clientSecret: textIn(params.client_secret),
    scope: textIn(params.azure_scope),
  });
  if (key === null && entra === null && params.azure_ad_token !== undefined) {
    return dropped(config, place, "azure_ad_token: tokens end; use tenant_id, client_id and client_secret");
  }
  const secret = key === null ? config.variable(keyName) : config.secret(key, keyName);
  if (vendor.kind === "anthropic") {
    if (entra !== null) return dropped(config, place, "Entra ID is not served for models of Anthropic");
    return { kind: vendor.kind, base_url: `${base}/anthropic`, api_key: secret };
  }
  return {
    kind: vendor.kind,
    base_url: base,
    ...(entra === null ? { api_key: secret } : { entra_id: entra }),
    ...(version !== null && vendor.name === "azure" && { api_version: version }),
  };
}

/** Names of the v1 API among versions. Source: Azure OpenAI documentation, "API version lifecycle". */
const V1 = /^(v1|latest|preview)$/;

/** The version of the dated API; null for the v1 API. YAML reads a version without quotes as a date. */
function versionIn(config: ImportedConfig, value: unknown): string | null {
  const text = value instanceof Date ? value.toISOString().slice(0, 10) : textIn(value);
  return text === null || V1.test(text) ? null : config.version(text);
}

function addressIn(params: SourceMap): string | null {
  return textIn(params.api_base) ?? textIn(params.base_url);
}

function dropped(config: ImportedConfig, place: string, why: string): null {
  config.drop(place, why);
  return null;
}

function commonFields(config: ImportedConfig, { params, place }: CalledModel): Record<string, Written> {
  const headers = Object.entries(mapIn(params.extra_headers)).flatMap(([name, value]) => {
    const text = textIn(value);
    return text === null ? [] : [[name, config.secret(text, `HEADER_${name}`)] as const];
  });
  const timeout = numberIn(params.timeout);
  if (timeout === null && params.timeout !== undefined) config.drop(place, "timeout is no number");
  return {
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(timeout !== null && timeout > 0 && { timeouts: { first_byte: timeout } }),
  };
}

const LIMITS = [["rpm", "rpm"], ["tpm", "tpm"], ["max_parallel_requests", "concurrency"]] as const;

/**
 * Limits of a deployment, as those of its provider. Null if one of them has no counterpart: the deployment would be
 * without it here, and is in the report.
 */
export function limitsOf(config: ImportedConfig, params: SourceMap, place: string): Record<string, Written> | null {
  const limits: Record<string, Written> = {};
  if (params.max_budget !== undefined && params.max_budget !== null) {
    return dropped(config, place, "max_budget: a budget of a deployment has no counterpart, so it is left out with it");
  }
  for (const [from, to] of LIMITS) {
    if (params[from] === undefined || params[from] === null) continue;
    const limit = config.wholeNumber(params[from]);
    if (limit === null || (typeof limit === "number" && limit < 1)) {
      return dropped(config, place, `${from}: expected a number from 1, so it is left out with its limit`);
    }
    limits[to] = limit;
  }
  return limits;
}
