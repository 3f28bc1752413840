import * as z from "zod";
import { section, setting } from "../../../platform/lib/settings/setting.ts";
import { httpAddress, optional, secret, text } from "../../../platform/lib/settings/settings.ts";
import { CONFIGURED_VENDORS, vendorOfKind } from "../configured_vendors.ts";
import type { ProviderKind } from "../kinds.ts";
import { readServiceAccountKey } from "./service_account_key.ts";

/** An application in Microsoft Entra ID whose tokens authorize requests. */
export interface EntraIdConfig {
  readonly clientId: string;
  /** Never logged. */
  readonly clientSecret: string;
  /** What the token is for. */
  readonly scope: string;
  /** The address that issues tokens. Default: that of the tenant at Microsoft. */
  readonly tokenUrl: string;
}

/** A project in Google's Vertex AI. */
export interface VertexConfig {
  readonly project: string;
  /** A region, `us`, `eu` or `global`. Default: `global`. */
  readonly location: string;
  /** The account whose tokens authorize requests; null if a key or a header does. */
  readonly account: ServiceAccountSource | null;
}

/** The key file of a service account: its text, which is never logged, or its path. */
export type ServiceAccountSource = { readonly json: string } | { readonly file: string };

/** A region of Amazon Bedrock. */
export interface BedrockConfig {
  /** Signatures name it. Default: that of the host in `base_url`. */
  readonly region: string;
  /** The token of a temporary key pair, which is never logged; null for a lasting one. */
  readonly sessionToken: string | null;
}

/** The settings of clouds among those of a provider. */
export interface CloudConfig {
  /** Tokens in place of `apiKey`, which is null then; only for preset azure. Default: none. */
  readonly entraId?: EntraIdConfig;
  /** The version of Azure OpenAI's dated API, such as `2024-10-21`; only for preset azure. Default: the v1 API. */
  readonly apiVersion?: string;
  /** Only for kind vertex, and there required. */
  readonly vertex?: VertexConfig;
  /** Only for kind bedrock, and there required. */
  readonly bedrock?: BedrockConfig;
}

const ID_EXPECTATION = "an id of 1 to 100 letters, digits, dots and hyphens";
const SCOPE_EXPECTATION = "a scope of 1 to 300 visible ASCII characters";
const VERSION_EXPECTATION = 'a version such as "2024-10-21" or "2025-04-01-preview"';
const PROJECT_EXPECTATION = "the id of a project";
const LOCATION_EXPECTATION = 'a region such as "europe-west4", or "us", "eu" or "global"';

const REGION_EXPECTATION = 'a region such as "us-east-1"';
const { keyNames: BEDROCK_KEYS, pairNames: BEDROCK_PAIR, regionNames: [BEDROCK_REGION] } = CONFIGURED_VENDORS.bedrock;
const BEDROCK_KEY_EXPECTATION = "a Bedrock API key, or an access key with its secret_key, here or in the environment " +
  `variables ${BEDROCK_KEYS.join(" or ")}, or ${BEDROCK_PAIR.join(" and ")}`;
/** Tokens of temporary credentials have no documented length. */
const MAX_SESSION_TOKEN_CHARACTERS = 8_192;

const id = z.string(ID_EXPECTATION).regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/, ID_EXPECTATION);

/** Source: Microsoft identity platform, "Client credentials flow"; Azure OpenAI documentation, "Microsoft Entra ID". */
const entraIdSchema = section({
  tenant: setting(id, {
    text: "Kind `azure`: the id or a domain of the tenant in [Entra ID](clouds.md#microsoft-entra-id)",
    example: "example.onmicrosoft.com",
  }),
  client_id: setting(id, {
    text: "Kind `azure`: the id of the application",
    example: "11111111-2222-3333-4444-555555555555",
  }),
  client_secret: setting(secret(1), {
    text: "Kind `azure`: the secret of the application",
    example: "${AZURE_CLIENT_SECRET}",
  }),
  scope: setting(z.string(SCOPE_EXPECTATION).regex(/^[\x21-\x7e]{1,300}$/, SCOPE_EXPECTATION), {
    default: "https://cognitiveservices.azure.com/.default",
    text: "Kind `azure`: what tokens are for",
    example: "https://cognitiveservices.azure.us/.default",
  }),
  token_url: setting(httpAddress(), {
    default: null,
    text: "Kind `azure`: where tokens are issued",
    example: "https://login.microsoftonline.us/example/oauth2/v2.0/token",
    otherwise: "the tenant's address at Microsoft",
  }),
}).transform(({ tenant, tokenUrl, ...application }): EntraIdConfig => ({
  ...application,
  tokenUrl: tokenUrl ?? `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
}));

/** The fields of a provider for clouds, each only for its kind. */
export const CLOUD_FIELDS = {
  entra_id: optional(entraIdSchema),
  api_version: setting(
    z.string(VERSION_EXPECTATION).regex(/^20[0-9]{2}-[0-9]{2}-[0-9]{2}(?:-preview)?$/, VERSION_EXPECTATION),
    {
      default: null,
      text: "Kind `azure`: the version of the dated API, whose addresses contain the [deployment](clouds.md#dated-api)",
      example: "2024-10-21",
      otherwise: "the v1 API, which needs none",
    },
  ),
  project: setting(z.string(PROJECT_EXPECTATION).regex(/^[a-z0-9][a-z0-9.:-]{0,99}$/, PROJECT_EXPECTATION), {
    default: null,
    text: "Kind `vertex`, and there required: the id of the [project](clouds.md#google-vertex-ai)",
    example: "example-project",
    otherwise: "none",
  }),
  location: setting(z.string(LOCATION_EXPECTATION).regex(/^[a-z][a-z0-9-]{0,63}$/, LOCATION_EXPECTATION), {
    default: null,
    text: "Kind `vertex`: a region, `us`, `eu` or `global`",
    example: "europe-west4",
    otherwise: "`global`",
  }),
  service_account: setting(
    text(2, 20_000).refine((json) => readServiceAccountKey(json) !== null, "the text of a service account's key file"),
    {
      default: null,
      isSecret: true,
      text: "Kind `vertex`: the text of a service account's key file",
      example: '{"type":"service_account","client_email":"a@b.example","private_key":"-----BEGIN PRIVATE KEY-----…"}',
      otherwise: "none",
    },
  ),
  service_account_file: setting(text(1, 4_096), {
    default: null,
    text: "Kind `vertex`: the path of a service account's key file",
    example: "${GOOGLE_APPLICATION_CREDENTIALS}",
    otherwise: "none",
  }),
  region: setting(z.string(REGION_EXPECTATION).regex(/^[a-z]{2}[a-z0-9-]{3,40}$/, REGION_EXPECTATION), {
    default: null,
    text: "Kind `bedrock`: the [region](clouds.md#amazon-bedrock) that is called",
    example: "us-east-1",
    otherwise: "that of `AWS_REGION` or of the host in `base_url`",
  }),
  session_token: setting(secret(1, MAX_SESSION_TOKEN_CHARACTERS), {
    default: null,
    text: "Kind `bedrock`: the token of a temporary key pair",
    example: "${AWS_SESSION_TOKEN}",
    otherwise: "none",
  }),
} satisfies z.ZodRawShape;

/** The fields of {@linkcode CLOUD_FIELDS} as read; null for an absent one. */
export type CloudInput = { readonly [field in keyof typeof CLOUD_FIELDS]: z.infer<(typeof CLOUD_FIELDS)[field]> };

/** A provider as read, as far as the fields of clouds depend on it. */
export interface CloudProviderInput extends CloudInput {
  readonly kind: ProviderKind;
  readonly isAzure: boolean;
  readonly base_url: string | null;
  readonly api_key: string | null;
  readonly secret_key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials?: readonly unknown[] | undefined;
}

/** The header fields that a credential may be in. */
const CREDENTIAL_HEADERS = ["authorization", "api-key", "x-goog-api-key"];
const FIELDS_OF_KINDS = {
  vertex: ["project", "location", "service_account", "service_account_file"],
  bedrock: ["region", "session_token"],
} as const;

/**
 * Checks the fields of clouds.
 *
 * @param note Notes what was expected of a field.
 */
export function checkCloudFields(provider: CloudProviderInput, note: (field: string, expected: string) => void): void {
  if (provider.entra_id !== null) {
    if (!provider.isAzure) note("entra_id", 'none, as only kind "azure" has this field');
    refuseCredentials(provider, "entra_id", note);
  }
  if (provider.isAzure) checkAzureAddress(provider, note);
  else if (provider.api_version !== null) note("api_version", 'none, as only kind "azure" has this field');
  for (const [kind, fields] of Object.entries(FIELDS_OF_KINDS)) {
    if (provider.kind === kind) continue;
    for (const field of fields) if (provider[field] !== null) note(field, `no such field for kind "${provider.kind}"`);
  }
  if (provider.kind === "vertex") checkVertex(provider, note);
  if (provider.kind === "bedrock") checkBedrock(provider, note);
}

/** An address that was copied from a deployment. */
function checkAzureAddress({ base_url }: CloudProviderInput, note: (field: string, expected: string) => void): void {
  if (base_url === null || !new URL(base_url).pathname.includes("/deployments/")) return;
  note("base_url", "only the address of the resource, as the name of a deployment belongs in models[].serves");
}

function checkVertex(provider: CloudProviderInput, note: (field: string, expected: string) => void): void {
  if (provider.project === null) note("project", PROJECT_EXPECTATION);
  if (provider.service_account_file !== null && provider.service_account !== null) {
    note("service_account_file", "none next to service_account");
  }
  if (hasTokens(provider)) refuseCredentials(provider, "a service account", note);
  else if (provider.api_key === null && provider.credentials === undefined && provider.base_url === null) {
    note("service_account_file", "the key file of a service account, or its text in service_account, or an api_key");
  }
}

function checkBedrock(provider: CloudProviderInput, note: (field: string, expected: string) => void): void {
  const { api_key, secret_key, session_token, credentials, headers, base_url } = provider;
  if (regionOf(provider) === null) note("region", `${REGION_EXPECTATION}, here or in ${BEDROCK_REGION}`);
  if (session_token !== null && secret_key === null) note("session_token", "none without secret_key");
  if (api_key !== null && ACCESS_KEY.test(api_key) && secret_key === null) {
    note("secret_key", "the secret key of the access key in api_key");
  }
  const isKeyless = api_key === null && credentials === undefined && Object.keys(headers).length === 0;
  if (isKeyless && base_url === null) note("api_key", BEDROCK_KEY_EXPECTATION);
}

/** An access key of AWS, which is of no use without its secret key. Source: IAM user guide, "Unique identifiers". */
const ACCESS_KEY = /^A[KS]IA[A-Z0-9]{16}$/;

/** The region of a host of Amazon Bedrock, also of an interface endpoint in a VPC. */
const REGION_IN_HOST =
  /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

function regionOf({ region, base_url }: CloudProviderInput): string | null {
  return region ?? (base_url === null ? null : REGION_IN_HOST.exec(new URL(base_url).hostname)?.[1] ?? null);
}

/** Whether tokens authorize the provider's requests. */
export function hasTokens(provider: CloudInput): boolean {
  return provider.entra_id !== null || provider.service_account !== null || provider.service_account_file !== null;
}

/** Notes credentials that would be sent in place of tokens. */
function refuseCredentials(
  { api_key, credentials, headers }: CloudProviderInput,
  tokens: string,
  note: (field: string, expected: string) => void,
): void {
  if (api_key) note("api_key", `none next to ${tokens}`);
  if (credentials !== undefined) note("credentials", `none next to ${tokens}`);
  const own = Object.keys(headers).find((name) => CREDENTIAL_HEADERS.includes(name.toLowerCase()));
  if (own !== undefined) note("headers", `no credential next to ${tokens}`);
}

/** The settings of checked fields. */
export function cloudConfigOf(provider: CloudProviderInput): CloudConfig {
  if (provider.kind === "vertex") return { vertex: vertexOf(provider) };
  if (provider.kind === "bedrock") {
    return { bedrock: { region: regionOf(provider) ?? "", sessionToken: provider.session_token } };
  }
  return {
    ...provider.entra_id !== null && { entraId: provider.entra_id },
    ...provider.api_version !== null && { apiVersion: provider.api_version },
  };
}

function vertexOf({ project, location, service_account, service_account_file }: CloudInput): VertexConfig {
  const account = service_account === null
    ? service_account_file === null ? null : { file: service_account_file }
    : { json: service_account };
  return { project: project ?? "", location: location ?? "global", account };
}

/** The base URL of a cloud's region; null for kinds whose address does not depend on one. */
export function cloudAddressOf({ kind, location, region }: CloudProviderInput): string | null {
  const place = kind === "bedrock" ? region : kind === "vertex" ? location : null;
  return place === null ? null : vendorOfKind(kind).regionalUrl?.(place) ?? null;
}
