import { bedrockFields } from "./bedrock.ts";
import { type KeyModels, modelsOf } from "./bifrost_models.ts";
import { azureResource, entraIdOf, isAzureModelHost, vertexFields } from "./cloud_providers.ts";
import type { ImportedConfig, Written } from "./imported_config.ts";
import type { ModelUse } from "../../../vendors/prices/model_use.ts";
import { idIn, mapIn, type SourceMap, textIn, textsIn } from "../../../vendors/prices/source_values.ts";
import { AZURE_KEY_NAME, baseUrlOf, type ImportedVendor } from "./vendors.ts";

/** A key of a provider in the source. */
export interface SourceKey {
  readonly key: SourceMap;
  /** Among the keys of the provider. */
  readonly index: number;
  /** Its id and its name. */
  readonly names: readonly string[];
  /** In the source, for the report. */
  readonly place: string;
  /** The models that it serves. */
  readonly models: KeyModels;
}

const KEY_FIELDS = /^(id|name|value|models|blacklisted_models|weight|aliases|enabled|description|.*_key_config)$/;

/** Reads a key with its models. Null if no request is sent with it, which is in the report then. */
export function readKey(
  config: ImportedConfig,
  { key, index, place }: Pick<SourceKey, "key" | "index" | "place">,
  emptyAllowsAll: boolean,
): SourceKey | null {
  if (key.enabled === false) {
    config.drop(place, "it is not enabled");
    return null;
  }
  if (mapIn(key.replicate_key_config).use_deployments_endpoint === true) {
    config.drop(place, "deployments of Replicate are not served");
    return null;
  }
  for (const field of Object.keys(key)) {
    if (!KEY_FIELDS.test(field)) config.drop(`${place}.${field}`, "it has no counterpart");
  }
  const names = [key.id, key.name].flatMap((each) => idIn(each) ?? []);
  return { key, index, names, place, models: modelsOf(config, key, place, emptyAllowsAll) };
}

/**
 * The fields of the provider that a key with an address or an account of its own becomes. Null if it is not carried,
 * which is in the report then.
 */
export function keyProvider(
  config: ImportedConfig,
  vendor: ImportedVendor,
  { key, place, use, model }: SourceKey & { readonly use: ModelUse; readonly model: string },
): Record<string, Written> | null {
  if (vendor.kind === "azure") return azureFields(config, key, place, model);
  if (vendor.kind === "vertex") return vertexKeyFields(config, key, place);
  if (vendor.kind === "bedrock") return bedrockKeyFields(config, key, place);
  const [, server] = Object.entries(key).find(([field]) => field.endsWith("_key_config")) ?? [];
  const base = baseUrlOf(vendor, use, textIn(mapIn(server).url), (text) => config.address(text));
  const secret = textIn(key.value);
  return {
    kind: vendor.kind,
    ...(base !== null && { base_url: base }),
    ...(secret !== null && { api_key: config.secret(secret, `${vendor.kind}_API_KEY`) }),
  };
}

function azureFields(config: ImportedConfig, key: SourceMap, place: string, model: string) {
  const azure = mapIn(key.azure_key_config);
  const endpoint = textIn(azure.endpoint);
  const secret = textIn(key.value);
  const [scope = null] = textsIn(azure.scopes);
  const entra = secret !== null ? null : entraIdOf(config, {
    tenant: textIn(azure.tenant_id),
    clientId: textIn(azure.client_id),
    clientSecret: textIn(azure.client_secret),
    scope,
  });
  if (endpoint === null || (secret === null && entra === null)) {
    config.drop(place, "it has no endpoint, or neither a key nor an application of Entra ID");
    return null;
  }
  if (isAzureModelHost(endpoint)) {
    config.drop(place, "its address is that of a single model, which has no v1 API");
    return null;
  }
  if (azure.api_version !== undefined) config.drop(`${place}.api_version`, "deployments are called by the v1 API");
  const base = config.address(azureResource(endpoint));
  const apiKey = secret === null ? null : config.secret(secret, AZURE_KEY_NAME);
  if (!model.startsWith("claude-")) {
    return { kind: "azure", base_url: base, ...(entra === null ? { api_key: apiKey } : { entra_id: entra }) };
  }
  if (apiKey !== null) return { kind: "anthropic", base_url: `${base}/anthropic`, api_key: apiKey };
  config.drop(place, "Entra ID is not served for models of Anthropic");
  return null;
}

function vertexKeyFields(config: ImportedConfig, key: SourceMap, place: string) {
  const vertex = mapIn(key.vertex_key_config);
  const project = textIn(vertex.project_id);
  if (project === null) {
    config.drop(place, "it has no project_id");
    return null;
  }
  return vertexFields(config, {
    project,
    location: textIn(vertex.region),
    credentials: textIn(vertex.auth_credentials),
    apiKey: textIn(key.value),
  }, place);
}

function bedrockKeyFields(config: ImportedConfig, key: SourceMap, place: string) {
  const bedrock = mapIn(key.bedrock_key_config);
  const odd = ["arn", "role_arn"].find((field) => textIn(bedrock[field]) !== null);
  if (odd !== undefined) {
    config.drop(place, `${odd} has no counterpart; name the inference profile in serves, and use an access key`);
    return null;
  }
  return bedrockFields(config, {
    apiKey: textIn(key.value),
    accessKey: textIn(bedrock.access_key),
    secretKey: textIn(bedrock.secret_key),
    sessionToken: textIn(bedrock.session_token),
    region: textIn(bedrock.region),
    address: null,
  }, { place, program: "bifrost" });
}
