import { CONFIGURED_VENDORS } from "../../../vendors/upstreams/configured_vendors.ts";
import type { ImportedConfig, Written } from "./imported_config.ts";

/** Settings of Microsoft Entra ID in another program. */
export interface EntraSettings {
  readonly tenant: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** Null for the usual one. */
  readonly scope: string | null;
}

/** The field `entra_id` of a provider; null if the tenant, the id or the secret of the application is missing. */
export function entraIdOf(config: ImportedConfig, settings: EntraSettings): Record<string, Written> | null {
  const { tenant, clientId, clientSecret, scope } = settings;
  if (tenant === null || clientId === null || clientSecret === null) return null;
  return {
    tenant: config.name(tenant),
    client_id: config.name(clientId),
    client_secret: config.secret(clientSecret, "AZURE_CLIENT_SECRET"),
    ...(scope !== null && { scope: config.name(scope) }),
  };
}

/** The address of a resource of Azure, without the paths of its APIs. */
export function azureResource(address: string): string {
  return address.replace(/\/+$/, "").replace(/\/(openai|models|anthropic)(\/.*)?$/, "").replace(/\/+$/, "");
}

/** Hosts of resources, as opposed to those of single models. Source: Azure OpenAI documentation, "v1 API". */
const RESOURCE_HOST = /\.(openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.(com|us|cn)$/;

/** Whether an address of Azure is that of a single model, which has no v1 API. */
export function isAzureModelHost(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname : "";
  return /\.azure\.(com|us|cn)$/.test(host) && !RESOURCE_HOST.test(host);
}

/** Settings of Vertex AI in another program. */
export interface VertexSettings {
  readonly project: string | null;
  /** Null if the other program reads it from the environment. */
  readonly location: string | null;
  /** The text of a key file, the path of one, or a variable of either; null for the usual file. */
  readonly credentials: string | null;
  readonly apiKey: string | null;
}

/** Source: LiteLLM documentation, "Vertex AI". */
const DEFAULT_LOCATION = "us-central1";
/**
 * The usual variable of the path of a key file. Source: Google Cloud documentation, "Application Default Credentials".
 */
const [DEFAULT_KEY_FILE] = CONFIGURED_VENDORS.vertex.keyNames;

/**
 * The fields of a provider of kind `vertex`.
 *
 * @param place In the source, for the report.
 */
export function vertexFields(config: ImportedConfig, settings: VertexSettings, place: string): Record<string, Written> {
  const { project, location, credentials, apiKey } = settings;
  return {
    kind: "vertex",
    project: project === null ? config.variable("VERTEXAI_PROJECT", "name") : config.name(project),
    location: location === null
      ? config.variable("VERTEXAI_LOCATION", "name", DEFAULT_LOCATION)
      : config.name(location),
    ...(credentials === null && apiKey !== null
      ? { api_key: config.secret(apiKey, "VERTEX_API_KEY") }
      : accountOf(config, credentials, place)),
  };
}

/** The path of a file. Any other text may be secret. */
const PATH = /^([.~/\\]|[A-Za-z]:[\\/])[^{]*$|^[^{]*\.json$/;

function accountOf(config: ImportedConfig, credentials: string | null, place: string): Record<string, Written> {
  if (credentials === null) return { service_account_file: config.variable(DEFAULT_KEY_FILE) };
  const variable = config.variableIn(credentials);
  if (variable === null) {
    return PATH.test(credentials)
      ? { service_account_file: config.text(credentials) }
      : { service_account: config.keyFile(onOneLine(credentials), "VERTEX_CREDENTIALS") };
  }
  if (variable === DEFAULT_KEY_FILE || /FILE|PATH/.test(variable)) {
    return { service_account_file: config.text(credentials) };
  }
  config.drop(place, `${variable} is read as the text of a key file; if it is a path, write service_account_file`);
  return { service_account: config.keyFile(credentials, variable) };
}

/** A file of variables has one line for each. */
function onOneLine(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json.replaceAll(/\s+/g, " ");
  }
}

/** Models of Vertex AI whose publishers have formats of their own, and models that the project deployed itself. */
const OTHER_FORMATS = /^(mistral|codestral|jamba|mistralai\/|ai21\/|gemma\/|gemini\/|openai\/\d|projects\/|\d+$)/;

/** Whether kind `vertex` has the format of a model. Source: docs/clouds.md#google-vertex-ai. */
export function hasVertexFormat(model: string): boolean {
  return !OTHER_FORMATS.test(model);
}
