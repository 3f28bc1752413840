import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { hasBuiltInModels, type Vendor, type VendorImport } from "./vendor.ts";

/** The formats that their authors document. */
const AS_DOCUMENTED = { without: "all" } as const;
const COHERE: VendorImport = {
  removedPath: /\/(v\d|compatibility\/v1)(\/(chat|embed|rerank))?$/,
  addedPaths: { text: "/compatibility/v1", embedding: "/compatibility/v1", rerank: "/v2" },
};

/**
 * All vendors that variables enable, or that have a preset, by the name of the provider. Those that only a
 * configuration enables are in `configured_vendors.ts`. Sources: the vendors' pages on their clients and on OpenAI
 * compatibility, autumn 2026.
 */
const ROWS = {
  openai: {
    kind: "openai",
    baseUrl: "https://api.openai.com/v1",
    ...named("OPENAI"),
    reportKeyName: "OPENAI_ADMIN_KEY",
    quirks: AS_DOCUMENTED,
    uses: ["text", "embedding", "moderation", "speech", "transcription", "image"],
    tracedName: "openai",
  },
  anthropic: {
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com",
    ...named("ANTHROPIC"),
    reportKeyName: "ANTHROPIC_ADMIN_KEY",
    uses: ["text"],
    imports: { anthropic: { removedPath: /\/v1(\/messages)?$/ } },
    tracedName: "anthropic",
  },
  google: {
    kind: "google",
    baseUrl: "https://generativelanguage.googleapis.com",
    keyNames: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    addressNames: ["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
    quirks: AS_DOCUMENTED,
    uses: ["text", "embedding", "speech", "transcription", "image"],
    imports: { gemini: { removedPath: /\/v1(beta)?$/ } },
    tracedName: "gcp.gemini",
  },
  xai: {
    kind: "xai",
    baseUrl: "https://api.x.ai/v1",
    ...named("XAI"),
    uses: ["text", "image", "video"],
    imports: { xai: {} },
    openrouterName: "x-ai",
    tracedName: "x_ai",
  },
  bytedance: {
    kind: "ark",
    baseUrl: "https://ark.ap-southeast.bytepluses.com/api/v3",
    ...named("ARK"),
    quirks: { with: ["thinking_switch"] }, // Source: ModelArk API reference, "Chat API", `thinking`.
    uses: ["text", "image", "video"],
    imports: {
      volcengine: {
        name: "volcengine",
        keyName: "VOLCENGINE_API_KEY",
        baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
      },
    },
    openrouterName: null,
  },
  deepseek: {
    ...preset("https://api.deepseek.com/v1", "DEEPSEEK"),
    quirks: { with: ["thinking_switch"] }, // Source: DeepSeek API documentation, "Thinking Mode".
    hasMessages: true,
    uses: ["text"],
  },
  moonshotai: {
    ...preset("https://api.moonshot.ai/v1", "MOONSHOT"),
    otherHosts: ["api.moonshot.cn"],
    hasMessages: true,
    uses: ["text"],
    imports: { moonshot: {} },
  },
  alibaba: {
    kind: "alibaba",
    baseUrl: "https://dashscope-intl.aliyuncs.com",
    otherHosts: ["dashscope.aliyuncs.com"],
    ...named("DASHSCOPE"),
    quirks: { with: ["no_file_parts"] }, // Source: pydantic/pydantic-ai, provider of Alibaba: documents are refused.
    hasMessages: true,
    uses: ["text", "image", "video"],
    imports: { dashscope: {} },
    openrouterName: "qwen",
  },
  zai: {
    ...preset("https://api.z.ai/api/paas/v4", "ZAI"),
    otherHosts: ["open.bigmodel.cn"],
    quirks: { with: ["thinking_switch"] }, // Source: Z.AI API reference, "Chat Completion", `thinking`.
    hasMessages: true,
    uses: ["text"],
    openrouterName: "z-ai",
  },
  minimax: {
    kind: "minimax",
    baseUrl: "https://api.minimax.io",
    otherHosts: ["api.minimaxi.com"],
    ...named("MINIMAX"),
    hasMessages: true,
    uses: ["text", "video"],
    imports: { minimax: {} },
  },
  fal: {
    kind: "fal",
    baseUrl: "https://queue.fal.run",
    ...named("FAL"),
    keyNames: ["FAL_KEY", "FAL_API_KEY"],
    uses: ["image", "video"],
    defaultUse: "image",
    imports: { fal_ai: { keyName: "FAL_AI_API_KEY" } },
  },
  "black-forest-labs": {
    kind: "bfl",
    baseUrl: "https://api.bfl.ai/v1",
    ...named("BFL"),
    uses: ["image"],
    defaultUse: "image",
    imports: { black_forest_labs: {} },
  },
  kling: {
    kind: "kling",
    baseUrl: "https://api-singapore.klingai.com",
    ...named("KLING"),
    pairNames: ["KLING_ACCESS_KEY", "KLING_SECRET_KEY"],
    uses: ["video"],
  },
  replicate: {
    kind: "replicate",
    baseUrl: "https://api.replicate.com/v1",
    ...named("REPLICATE"),
    keyNames: ["REPLICATE_API_TOKEN", "REPLICATE_API_KEY"],
    uses: ["image", "video"],
    defaultUse: "image",
    imports: { replicate: { keyName: "REPLICATE_API_KEY" } },
  },
  runway: {
    kind: "runway",
    baseUrl: "https://api.dev.runwayml.com",
    ...named("RUNWAYML"),
    keyNames: ["RUNWAYML_API_SECRET"],
    uses: ["video"],
    imports: { runwayml: {}, runway: {} },
  },
  vidu: { kind: "vidu", baseUrl: "https://api.vidu.com", ...named("VIDU"), uses: ["video"] },
  luma: {
    kind: "luma",
    baseUrl: "https://agents.lumalabs.ai/v1",
    ...named("LUMA"),
    keyNames: ["LUMA_AGENTS_API_KEY", "LUMA_API_KEY"],
    uses: ["video"],
  },
  pika: { kind: "pika", baseUrl: "https://api.dev.pika.art", ...named("PIKA"), uses: ["video"] },
  mistral: {
    ...preset("https://api.mistral.ai/v1", "MISTRAL"),
    // Source: Mistral API reference, "Chat". Other fields are rejected ("Extra inputs are not permitted").
    quirks: {
      without: ["reasoning_in_history", "reasoning_object", "video_parts", "any_audio_format"],
      with: ["mistral_fields", "no_stream_options", "no_user_field", "random_seed_field", "nine_character_call_ids"],
    },
    uses: ["text", "embedding", "moderation", "transcription"], // Its speech is JSON with the audio inside.
    openrouterName: "mistralai",
  },
  groq: {
    ...preset("https://api.groq.com/openai/v1", "GROQ"),
    // Source: groq 1.7.0 (Python), chat messages and request; "property 'reasoning_content' is unsupported".
    quirks: {
      without: ["reasoning_in_history", "reasoning_object", "video_parts"],
      with: ["groq_fields", "no_file_parts"],
    },
    uses: ["text", "speech", "transcription"],
    openrouterName: null,
  },
  // Source: Cohere documentation, "Compatibility API", with supported and unsupported parameters, "Rerank API (v2)".
  cohere: {
    ...preset("https://api.cohere.ai/compatibility/v1", "COHERE"),
    addresses: { rerank: "https://api.cohere.com/v2" },
    quirks: { without: ["reasoning_in_history", "reasoning_object"], with: ["cohere_fields"] },
    listsModels: false,
    uses: ["text", "embedding", "rerank"],
    imports: { cohere: COHERE, cohere_chat: COHERE },
  },
  openrouter: {
    ...preset("https://openrouter.ai/api/v1", "OPENROUTER"),
    reportKeyName: "OPENROUTER_MANAGEMENT_KEY",
    // Source: OpenRouter documentation, "Reasoning Tokens" (efforts from none to xhigh for every model), "Parameters".
    quirks: { without: ["three_efforts", "no_verbosity"], with: ["adapted_requests"] },
    hasMessages: true,
    uses: ["text", "embedding", "rerank", "video"],
    openrouterName: null,
  },
  together: {
    ...listed("https://api.together.ai/v1", "TOGETHER"),
    uses: ["text", "embedding", "rerank", "speech", "transcription", "image"],
    imports: { together_ai: { keyName: "TOGETHERAI_API_KEY" } },
  },
  fireworks: {
    ...listed("https://api.fireworks.ai/inference/v1", "FIREWORKS"),
    uses: ["text", "embedding", "rerank"],
    imports: { fireworks_ai: { keyName: "FIREWORKS_AI_API_KEY" } },
  },
  // Its Agent API has the responses format. Its chat completions ended in September 2026.
  perplexity: {
    ...listed("https://api.perplexity.ai/v1", "PERPLEXITY"),
    speaks: "responses",
    listsModels: false,
    uses: ["text"], // Its embeddings are lists of bytes, which are no vectors of OpenAI's format.
    imports: { perplexity: { keyName: "PERPLEXITYAI_API_KEY" } },
  },
  cerebras: { ...listed("https://api.cerebras.ai/v1", "CEREBRAS"), uses: ["text"] },
  nvidia: {
    ...listed("https://integrate.api.nvidia.com/v1", "NVIDIA"),
    imports: { nvidia_nim: { keyName: "NVIDIA_NIM_API_KEY" } },
  },
  // Source: DeepInfra documentation, "OpenAI-compatible API".
  deepinfra: listed("https://api.deepinfra.com/v1/openai", "DEEPINFRA"),
  // Source: Nebius Token Factory documentation, "API introduction".
  nebius: listed("https://api.tokenfactory.nebius.com/v1", "NEBIUS"),
  // Source: Azure OpenAI documentation, "Endpoints" and "v1 API": no api-version, and the name of a deployment as the
  // model.
  azure: {
    kind: "openai",
    isPreset: true,
    baseUrl: null,
    otherHosts: ["openai.azure.com", "services.ai.azure.com"],
    path: "/openai/v1",
    keyNames: ["AZURE_OPENAI_API_KEY"],
    addressNames: ["AZURE_OPENAI_ENDPOINT"],
    keyHeader: "api-key",
    hasBuiltInModels: false,
    listsModels: false,
    // Source: pydantic/pydantic-ai, provider of Azure: chat completions has no documents. Responses has them.
    quirks: { without: "all", with: ["no_file_parts"] },
    uses: ["text", "embedding", "speech", "transcription", "image"],
    // Deployments are called by the v1 API. The facts are those of the base model.
    imports: {
      azure: { family: "openai", keyName: "AZURE_API_KEY" },
      azure_ai: {
        name: "azure_ai",
        family: "openai",
        keyName: "AZURE_AI_API_KEY",
        uses: ["text", "embedding", "transcription", "image"],
      },
    },
  },
  ollama: {
    ...ownServer("http://localhost:11434/v1"),
    imports: { ollama: { addedPath: "/v1" }, ollama_chat: { addedPath: "/v1" } },
  },
  vllm: {
    ...ownServer("http://localhost:8000/v1"),
    uses: ["text", "embedding", "rerank", "transcription"],
    imports: {
      hosted_vllm: {},
      vllm: { addedPath: "/v1" },
      sgl: { uses: ["text", "embedding", "rerank"], addedPath: "/v1" },
    },
  },
  lmstudio: { ...ownServer("http://localhost:1234/v1"), imports: { lm_studio: {} } },
} as const satisfies Readonly<Record<string, Vendor>>;

/** The name of a vendor. */
export type VendorName = keyof typeof ROWS;

/** The vendors, in order. */
export const VENDORS: Readonly<Record<VendorName, Vendor>> = ROWS;

/** The vendors with built-in models, whose ids begin with their names. */
export const BUILT_IN_VENDORS: readonly VendorName[] = (Object.keys(ROWS) as VendorName[])
  .filter((name) => hasBuiltInModels(VENDORS[name]));

/** The name of a vendor whose format is that of another kind. */
export type PresetName = {
  [Name in VendorName]: typeof ROWS[Name] extends { readonly isPreset: true } ? Name : never;
}[VendorName];

/** The names of the presets, in their order. */
export const PRESET_NAMES: readonly [PresetName, ...PresetName[]] = Object.keys(ROWS)
  .filter((name) => presetOf(name) !== null) as [PresetName, ...PresetName[]];

/** The preset of a name; null for another text, such as a kind. */
export function presetOf(name: string): Vendor | null {
  const vendor = ownValue<Vendor>(ROWS, name);
  return vendor?.isPreset ? vendor : null;
}

/** The value of `kind` for a vendor: the name of a preset, which also says which formats the vendor has. */
export function kindNameOf(name: string, { kind }: Vendor): string {
  return presetOf(name) === null ? kind : name;
}

/** The variables of a vendor whose names begin alike. */
function named<Prefix extends string>(prefix: Prefix) {
  return { keyNames: [`${prefix}_API_KEY`], addressNames: [`${prefix}_BASE_URL`] } as const;
}

/** A vendor of OpenAI's format with built-in models. */
function preset(baseUrl: string, prefix: string) {
  return { kind: "openai", isPreset: true, baseUrl, ...named(prefix) } as const;
}

/** A vendor of OpenAI's format whose models are in its list, without prices. */
function listed(baseUrl: string, prefix: string) {
  return { ...preset(baseUrl, prefix), hasBuiltInModels: false } as const;
}

/** A server of the operator's own. */
function ownServer(baseUrl: string) {
  return { kind: "openai", isPreset: true, baseUrl, keyNames: [], hasBuiltInModels: false } as const;
}
