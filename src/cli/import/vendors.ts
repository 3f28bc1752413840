import { listsModels, type ProviderKind } from "../../upstreams/kinds.ts";
import { PRESET_NAMES, type PresetName, presetOf } from "../../upstreams/vendors.ts";
import type { ModelUse } from "../../prices/model_use.ts";

/** A vendor in another program's configuration. */
export interface ImportedVendor {
  readonly kind: ProviderKind | PresetName;
  /** The first part of its models' ids in a list of prices. Default: `family`, else the kind. */
  readonly name?: string;
  /** The first part of the ids of its built-in models. Default: none is built in. */
  readonly family?: string;
  /** The variable in which the other programs expect the key; null for servers that need none. */
  readonly keyName: string | null;
  /** What this gateway serves of it. */
  readonly uses: readonly ModelUse[];
  /** The use of models whose names do not tell. Default: text. */
  readonly defaultUse?: ModelUse;
  /** The address for a use, where the default of the kind is not the vendor's. */
  readonly addresses?: Readonly<Partial<Record<ModelUse, string>>>;
  /** What the other programs leave out of a base address: `/v1`. */
  readonly addedPath?: string;
  /** The same, where it depends on the use. */
  readonly addedPaths?: Readonly<Partial<Record<ModelUse, string>>>;
  /** What the other programs have in the base address beyond ours. */
  readonly removedPath?: RegExp;
  /** Whether the base address must be stated. */
  readonly needsAddress?: boolean;
  /** Whether its models can be listed. Default: if those of the kind can. */
  readonly listsModels?: false;
}

const TEXT = ["text"] as const;
/** What any server of OpenAI's format may offer. */
const COMPATIBLE = ["text", "embedding", "rerank", "moderation", "speech", "transcription", "image"] as const;

/** Source: Cohere documentation, "Compatibility API" and "Rerank API (v2)". */
const COHERE: ImportedVendor = {
  kind: "openai",
  name: "cohere",
  keyName: "COHERE_API_KEY",
  uses: ["text", "embedding", "rerank"],
  addresses: {
    text: addressOf("cohere"),
    embedding: addressOf("cohere"),
    rerank: "https://api.cohere.com/v2",
  },
  removedPath: /\/(v\d|compatibility\/v1)(\/(chat|embed|rerank))?$/,
  addedPaths: { text: "/compatibility/v1", embedding: "/compatibility/v1", rerank: "/v2" },
  listsModels: false,
};

const BEDROCK: ImportedVendor = { kind: "bedrock", name: "bedrock", keyName: null, uses: ["text", "embedding"] };

const RUNWAY: ImportedVendor = {
  kind: "runway",
  family: "runway",
  keyName: "RUNWAYML_API_SECRET",
  uses: ["video"],
};

/** Vendors of OpenAI's format that have no preset here, with the base address in their documentation. */
const OTHERS: readonly (readonly [name: string, address: string, keyName: string])[] = [
  ["featherless_ai", "https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY"],
  ["friendliai", "https://api.friendli.ai/serverless/v1", "FRIENDLI_TOKEN"],
  ["hyperbolic", "https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"],
  ["lambda_ai", "https://api.lambda.ai/v1", "LAMBDA_API_KEY"],
  ["novita", "https://api.novita.ai/v3/openai", "NOVITA_API_KEY"],
  ["nscale", "https://inference.api.nscale.com/v1", "NSCALE_API_KEY"],
  ["parasail", "https://api.parasail.io/v1", "PARASAIL_API_KEY"],
  ["sambanova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"],
  ["scaleway", "https://api.scaleway.ai/v1", "SCW_SECRET_KEY"],
  ["vercel_ai_gateway", "https://ai-gateway.vercel.sh/v1", "VERCEL_AI_GATEWAY_API_KEY"],
];

/** The vendors of LiteLLM and Bifrost by their names there, as far as more is known of them than an address. */
const DESCRIBED: Readonly<Record<string, ImportedVendor>> = {
  openai: {
    kind: "openai",
    family: "openai",
    keyName: "OPENAI_API_KEY",
    uses: ["text", "embedding", "moderation", "speech", "transcription", "image"],
  },
  // Deployments are called by the v1 API. The facts are those of the base model.
  azure: {
    kind: "azure",
    name: "azure",
    family: "openai",
    keyName: "AZURE_API_KEY",
    uses: ["text", "embedding", "speech", "transcription", "image"],
    listsModels: false,
  },
  azure_ai: {
    kind: "azure",
    name: "azure_ai",
    family: "openai",
    keyName: "AZURE_AI_API_KEY",
    uses: ["text", "embedding", "transcription", "image"],
    listsModels: false,
  },
  anthropic: {
    kind: "anthropic",
    family: "anthropic",
    keyName: "ANTHROPIC_API_KEY",
    uses: TEXT,
    removedPath: /\/v1(\/messages)?$/,
  },
  gemini: {
    kind: "google",
    family: "google",
    keyName: "GEMINI_API_KEY",
    uses: ["text", "embedding", "speech", "transcription", "image"],
    removedPath: /\/v1(beta)?$/,
  },
  vertex_ai: { kind: "vertex", name: "vertex", keyName: null, uses: ["text", "embedding", "speech", "transcription"] },
  bedrock: BEDROCK,
  bedrock_converse: BEDROCK,
  xai: { kind: "xai", family: "xai", keyName: "XAI_API_KEY", uses: ["text", "image", "video"] },
  openrouter: {
    kind: "openrouter",
    family: "openrouter",
    keyName: "OPENROUTER_API_KEY",
    uses: ["text", "embedding", "rerank", "video"],
  },
  groq: { kind: "groq", keyName: "GROQ_API_KEY", uses: ["text", "speech", "transcription"] },
  together_ai: {
    kind: "together",
    keyName: "TOGETHERAI_API_KEY",
    uses: ["text", "embedding", "rerank", "speech", "transcription", "image"],
  },
  // Its speech is JSON with the audio inside.
  mistral: {
    kind: "mistral",
    family: "mistral",
    keyName: "MISTRAL_API_KEY",
    uses: ["text", "embedding", "moderation", "transcription"],
  },
  deepseek: { kind: "deepseek", family: "deepseek", keyName: "DEEPSEEK_API_KEY", uses: TEXT },
  fireworks_ai: { kind: "fireworks", keyName: "FIREWORKS_AI_API_KEY", uses: ["text", "embedding", "rerank"] },
  fireworks: { kind: "fireworks", keyName: "FIREWORKS_API_KEY", uses: ["text", "embedding", "rerank"] },
  cerebras: { kind: "cerebras", keyName: "CEREBRAS_API_KEY", uses: TEXT },
  nvidia_nim: { kind: "nvidia", keyName: "NVIDIA_NIM_API_KEY", uses: ["text", "embedding"] },
  moonshot: { kind: "moonshotai", family: "moonshotai", keyName: "MOONSHOT_API_KEY", uses: TEXT },
  zai: { kind: "zai", family: "zai", keyName: "ZAI_API_KEY", uses: TEXT },
  minimax: { kind: "minimax", family: "minimax", keyName: "MINIMAX_API_KEY", uses: ["text", "video"] },
  dashscope: { kind: "alibaba", family: "alibaba", keyName: "DASHSCOPE_API_KEY", uses: ["text", "image", "video"] },
  volcengine: {
    kind: "ark",
    name: "volcengine",
    family: "bytedance",
    keyName: "VOLCENGINE_API_KEY",
    uses: ["text", "image", "video"],
    addresses: {
      text: "https://ark.cn-beijing.volces.com/api/v3",
      image: "https://ark.cn-beijing.volces.com/api/v3",
      video: "https://ark.cn-beijing.volces.com/api/v3",
    },
  },
  // Its embeddings are lists of bytes, which are no vectors of OpenAI's format.
  perplexity: { kind: "perplexity", keyName: "PERPLEXITYAI_API_KEY", uses: TEXT },
  cohere: COHERE,
  cohere_chat: COHERE,
  voyage: {
    kind: "openai",
    name: "voyage",
    keyName: "VOYAGE_API_KEY",
    uses: ["embedding", "rerank"],
    defaultUse: "embedding",
    addresses: { embedding: "https://api.voyageai.com/v1", rerank: "https://api.voyageai.com/v1" },
    removedPath: /\/(embeddings|rerank)$/,
    listsModels: false,
  },
  jina_ai: {
    kind: "openai",
    name: "jina_ai",
    keyName: "JINA_AI_API_KEY",
    uses: ["embedding", "rerank"],
    defaultUse: "embedding",
    addresses: { embedding: "https://api.jina.ai/v1", rerank: "https://api.jina.ai/v1" },
    removedPath: /\/(embeddings|rerank)$/,
    listsModels: false,
  },
  replicate: {
    kind: "replicate",
    family: "replicate",
    keyName: "REPLICATE_API_KEY",
    uses: ["image", "video"],
    defaultUse: "image",
  },
  runwayml: RUNWAY,
  runway: RUNWAY,
  fal_ai: { kind: "fal", family: "fal", keyName: "FAL_AI_API_KEY", uses: ["image", "video"], defaultUse: "image" },
  black_forest_labs: {
    kind: "bfl",
    family: "black-forest-labs",
    keyName: "BFL_API_KEY",
    uses: ["image"],
    defaultUse: "image",
  },
  ollama: { kind: "ollama", keyName: null, uses: ["text", "embedding"], addedPath: "/v1" },
  ollama_chat: { kind: "ollama", keyName: null, uses: ["text", "embedding"], addedPath: "/v1" },
  hosted_vllm: { kind: "vllm", keyName: null, uses: ["text", "embedding", "rerank", "transcription"] },
  vllm: { kind: "vllm", keyName: null, uses: ["text", "embedding", "rerank", "transcription"], addedPath: "/v1" },
  sgl: { kind: "vllm", keyName: null, uses: ["text", "embedding", "rerank"], addedPath: "/v1" },
  lm_studio: { kind: "lmstudio", keyName: null, uses: ["text", "embedding"] },
  openai_like: { kind: "openai", keyName: null, uses: COMPATIBLE, needsAddress: true },
  custom_openai: { kind: "openai", keyName: null, uses: COMPATIBLE, needsAddress: true },
  litellm_proxy: { kind: "openai", keyName: null, uses: COMPATIBLE, needsAddress: true },
};

/** All vendors of LiteLLM and Bifrost by their names there. A preset counts more than an address. */
const VENDORS: Readonly<Record<string, ImportedVendor>> = {
  ...Object.fromEntries(OTHERS.map(([name, address, keyName]): [string, ImportedVendor] => [name, {
    kind: "openai",
    name,
    keyName,
    uses: ["text", "embedding"],
    addresses: { text: address, embedding: address },
  }])),
  ...Object.fromEntries(PRESET_NAMES.map((kind): [string, ImportedVendor] => [kind, {
    kind,
    keyName: presetOf(kind)?.keyNames[0] ?? null,
    uses: ["text", "embedding"],
  }])),
  ...DESCRIBED,
};

/** Other names of vendors. `vertex_ai-anthropic_models` and its like are in LiteLLM's list of prices. */
const SAME_VENDORS: readonly (readonly [RegExp, string])[] = [
  [/^vertex(_ai)?(_beta|-.+)?$/, "vertex_ai"],
  [/^fireworks_ai-.+$/, "fireworks_ai"],
];

/** A vendor by its name in the other program; null if this gateway does not have it. */
export function vendorNamed(name: string): ImportedVendor | null {
  const same = SAME_VENDORS.find(([pattern]) => pattern.test(name))?.[1] ?? name;
  return Object.hasOwn(VENDORS, same) ? VENDORS[same] ?? null : null;
}

/** The names of all vendors. */
export const VENDOR_NAMES: readonly string[] = Object.keys(VENDORS);

/** The first part of the ids of a vendor's models in a list of prices. */
export function idPrefixOf({ name, family, kind }: ImportedVendor): string {
  return name ?? family ?? kind;
}

/** The name of the provider for a use, where a vendor has an address of its own for it. */
export function providerNameFor({ addedPaths }: ImportedVendor, use: ModelUse, name: string): string {
  return addedPaths !== undefined && addedPaths[use] !== addedPaths.text ? `${name}-${use}` : name;
}

/** The vendor of a model that is named without one. Source: LiteLLM, `get_llm_provider`. */
export function vendorOfBareName(model: string): string | null {
  if (/^(gpt-|chatgpt-|o[1-9](-|$)|ft:gpt|codex-|dall-e|text-embedding|omni-moderation|whisper|tts-)/.test(model)) {
    return "openai";
  }
  if (/^claude-/.test(model)) return "anthropic";
  if (/^gemini-/.test(model)) return "vertex_ai";
  if (/^(command-|rerank-|embed-)/.test(model)) return "cohere";
  return null;
}

/** Whether the servers of a kind are the operator's own, so that their models have no price. */
export function isOwnServer(kind: string): boolean {
  return kind === "ollama" || kind === "vllm" || kind === "lmstudio";
}

function addressOf(name: PresetName): string {
  const address = presetOf(name)?.baseUrl;
  if (!address) throw new TypeError(`The preset ${name} has no address`);
  return address;
}

/** The kind of a vendor whose format is that of another one, else its own. */
export function kindOf({ kind }: ImportedVendor): ProviderKind {
  return presetOf(kind)?.kind ?? kind as ProviderKind;
}

/** Whether a pattern can stand for the models of a vendor. */
export function canListModels(vendor: ImportedVendor): boolean {
  return vendor.listsModels !== false && listsModels(kindOf(vendor));
}

/**
 * A base address of the other program as one of ours.
 *
 * @param address As written there; null for the vendor's own.
 * @param write Writes the address, of which the beginning may be a variable.
 */
export function baseUrlOf(
  vendor: ImportedVendor,
  use: ModelUse,
  address: string | null,
  write: (address: string) => string,
): string | null {
  if (address === null) return vendor.addresses?.[use] ?? null;
  const trimmed = address.replace(/\/+$/, "").replace(vendor.removedPath ?? /$^/, "").replace(/\/+$/, "");
  const added = vendor.addedPaths?.[use] ?? vendor.addedPath ?? "";
  return write(trimmed) + (trimmed.endsWith(added) ? "" : added);
}
