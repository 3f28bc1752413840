import type { ProviderKind } from "./kinds.ts";
import type { Vendor, VendorImport } from "./vendor.ts";
import { VENDORS } from "./vendors.ts";

const RANKER: VendorImport = { removedPath: /\/(embeddings|rerank)$/ };

/**
 * The vendors that only a configuration enables: those that need more than a key, and those that have no preset, which
 * imports name.
 */
export const CONFIGURED_VENDORS = {
  "dream-machine": { kind: "dream-machine", baseUrl: "https://api.lumalabs.ai/dream-machine/v1", ...unnamed() },
  // Source: Vertex AI REST reference, "Service endpoint", and the host names of Google's Gen AI SDK.
  vertex: {
    kind: "vertex",
    baseUrl: "https://aiplatform.googleapis.com",
    regionalUrl: (location) => {
      if (location === "global") return null;
      return location === "us" || location === "eu"
        ? `https://aiplatform.${location}.rep.googleapis.com`
        : `https://${location}-aiplatform.googleapis.com`;
    },
    keyNames: ["GOOGLE_APPLICATION_CREDENTIALS"],
    hasBuiltInModels: false,
    // Three formats. Source: Vertex AI API reference, `FunctionCall` and `FunctionResponse`, which have no id; Claude
    // on Vertex AI, "Feature support"; pydantic/pydantic-ai#6765 for messages of the role `system`. Its chat
    // completions are a compatible vendor's, except for the search, which the other two formats have.
    quirks: {
      without: ["no_web_search"],
      with: ["no_call_ids", "no_output_schemas", "no_threads", "no_store_field", "no_system_turns"],
    },
    uses: ["text", "embedding", "speech", "transcription"],
    imports: { vertex_ai: { keyName: null } },
  },
  // Sources: AWS General Reference, "Amazon Bedrock endpoints"; AWS SDKs and Tools Reference Guide, "Environment
  // variables"; Amazon Bedrock User Guide, "API keys".
  bedrock: {
    kind: "bedrock",
    baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com",
    regionalUrl: (region) => `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`,
    keyNames: ["AWS_BEARER_TOKEN_BEDROCK"],
    pairNames: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    sessionTokenName: "AWS_SESSION_TOKEN",
    addressNames: ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"], // which contains the region
    regionNames: ["AWS_REGION", "AWS_DEFAULT_REGION"],
    hasBuiltInModels: false,
    // Source: Claude on Amazon Bedrock, "Features not supported"; pydantic/pydantic-ai#6765 for the role `system`.
    quirks: { without: "all", with: ["no_threads", "no_system_turns", "no_web_search"] },
    imports: { bedrock: { keyName: null }, bedrock_converse: { keyName: null } },
  },
  // Source: Voyage AI API reference, "Text embedding models" and "Rerankers".
  voyage: {
    ...relayed("https://api.voyageai.com/v1", "VOYAGE_API_KEY"),
    quirks: { with: ["output_dimension", "top_k_ranks"] },
    listsModels: false,
    uses: ["embedding", "rerank"],
    defaultUse: "embedding",
    imports: { voyage: RANKER },
  },
  jina_ai: {
    ...relayed("https://api.jina.ai/v1", "JINA_AI_API_KEY"),
    listsModels: false,
    uses: ["embedding", "rerank"],
    defaultUse: "embedding",
    imports: { jina_ai: RANKER },
  },
  featherless_ai: relayed("https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY"),
  friendliai: relayed("https://api.friendli.ai/serverless/v1", "FRIENDLI_TOKEN"),
  hyperbolic: relayed("https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
  lambda_ai: relayed("https://api.lambda.ai/v1", "LAMBDA_API_KEY"),
  novita: relayed("https://api.novita.ai/v3/openai", "NOVITA_API_KEY"),
  nscale: relayed("https://inference.api.nscale.com/v1", "NSCALE_API_KEY"),
  parasail: relayed("https://api.parasail.io/v1", "PARASAIL_API_KEY"),
  sambanova: relayed("https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
  scaleway: relayed("https://api.scaleway.ai/v1", "SCW_SECRET_KEY"),
  vercel_ai_gateway: relayed("https://ai-gateway.vercel.sh/v1", "VERCEL_AI_GATEWAY_API_KEY"),
} as const satisfies Readonly<Record<string, Vendor>>;

/** Every vendor, by name. */
export const ALL_VENDORS: readonly (readonly [name: string, vendor: Vendor])[] = [
  ...Object.entries(VENDORS),
  ...Object.entries<Vendor>(CONFIGURED_VENDORS),
];

/** The vendor that a kind is made for. */
export function vendorOfKind(kind: ProviderKind): Vendor {
  const own = ALL_VENDORS.find(([, vendor]) => vendor.kind === kind && !vendor.isPreset);
  if (own === undefined) throw new TypeError(`No vendor has the kind ${kind}`);
  return own[1];
}

/** The base URL of the kind's own vendor. */
export function vendorBaseUrl(kind: ProviderKind): string {
  const { baseUrl } = vendorOfKind(kind);
  if (baseUrl === null) throw new TypeError(`The vendor of the kind ${kind} has no address`);
  return baseUrl;
}

/** A vendor of OpenAI's format that has no preset. */
function relayed(baseUrl: string, keyName: string) {
  return { kind: "openai", baseUrl, keyNames: [keyName], hasBuiltInModels: false } as const;
}

/** A vendor without variables, and without built-in models. */
function unnamed() {
  return { keyNames: [], hasBuiltInModels: false, uses: ["video"] } as const;
}
