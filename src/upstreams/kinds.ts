import type { UpstreamKind } from "./upstream.ts";

/** A vendor kind before its adapter is loaded. */
interface KindEntry {
  /** Loads the adapter. Later calls return the same one. */
  readonly load: () => Promise<UpstreamKind>;
  /** Whether a secret key for signing is supported. */
  readonly supportsSecretKey: boolean;
  /** Whether the vendor has a list of models. */
  readonly listsModels: boolean;
}

const PLAIN = { supportsSecretKey: false, listsModels: false };
const LISTING = { supportsSecretKey: false, listsModels: true };

/**
 * All vendor kinds, by the value of `kind` in the configuration. An adapter is loaded for a configured provider only,
 * so that the other adapters take no memory. What the configuration is checked by is stated here.
 */
const KINDS = {
  openai: { ...LISTING, load: async () => (await import("./openai/mod.ts")).openai },
  anthropic: { ...LISTING, load: async () => (await import("./anthropic/mod.ts")).anthropic },
  google: { ...LISTING, load: async () => (await import("./google/mod.ts")).google },
  ark: { ...PLAIN, load: async () => (await import("./ark/mod.ts")).ark },
  xai: { ...LISTING, load: async () => (await import("./xai/mod.ts")).xai },
  minimax: { ...PLAIN, load: async () => (await import("./minimax/mod.ts")).minimax },
  fal: { ...PLAIN, load: async () => (await import("./fal/mod.ts")).fal },
  bfl: { ...PLAIN, load: async () => (await import("./bfl/mod.ts")).bfl },
  kling: { ...PLAIN, supportsSecretKey: true, load: async () => (await import("./kling/mod.ts")).kling },
  alibaba: { ...LISTING, load: async () => (await import("./alibaba/mod.ts")).alibaba },
  replicate: { ...PLAIN, load: async () => (await import("./replicate/mod.ts")).replicate },
  runway: { ...PLAIN, load: async () => (await import("./runway/mod.ts")).runway },
  vertex: { ...PLAIN, load: async () => (await import("./vertex/mod.ts")).vertex },
  bedrock: { ...PLAIN, supportsSecretKey: true, load: async () => (await import("./bedrock/mod.ts")).bedrock },
} satisfies Readonly<Record<string, KindEntry>>;

/** A key of {@linkcode KINDS}. */
export type ProviderKind = keyof typeof KINDS;

/** Loads the adapter of a kind. */
export function loadKind(name: ProviderKind): Promise<UpstreamKind> {
  return KINDS[name].load();
}

/** Loads the adapter of Azure OpenAI's dated API. */
export async function loadDeployments(apiVersion: string): Promise<UpstreamKind> {
  const [{ openaiWithPaths }, { deploymentPaths }] = await Promise.all([
    import("./openai/mod.ts"),
    import("./azure/deployment_paths.ts"),
  ]);
  return openaiWithPaths(deploymentPaths(apiVersion));
}

/** Whether providers of the kind take a secret key for signing. */
export function supportsSecretKey(name: ProviderKind): boolean {
  return KINDS[name].supportsSecretKey;
}

/** Whether vendors of the kind have a list of models. */
export function listsModels(name: ProviderKind): boolean {
  return KINDS[name].listsModels;
}

/** The names of the kinds, in their order. */
export const PROVIDER_KINDS: readonly [ProviderKind, ...ProviderKind[]] = Object.keys(KINDS) as [
  ProviderKind,
  ...ProviderKind[],
];

/** A vendor whose format is that of another kind, with its address and its usual environment variable. */
export interface VendorPreset {
  readonly kind: ProviderKind;
  /** The base URL that the vendor documents for clients of the kind; null if every account has its own. */
  readonly baseUrl: string | null;
  /** What is added to a base URL that does not end in it. Default: nothing. */
  readonly path?: string;
  /** The variable in which the vendor's clients expect the key; null for servers that need none. */
  readonly keyName: string | null;
  /** The header field of the key. Default: that of the kind. */
  readonly keyHeader?: string;
  /** The text endpoints, where the vendor has other ones than chat completions. */
  readonly speaks?: "responses";
}

/**
 * All presets, by the value of `kind` in the configuration. The quirks follow from the address, as for every provider.
 * Sources: the vendors' pages on OpenAI compatibility, autumn 2026.
 */
const PRESETS = {
  openrouter: { kind: "openai", baseUrl: "https://openrouter.ai/api/v1", keyName: "OPENROUTER_API_KEY" },
  groq: { kind: "openai", baseUrl: "https://api.groq.com/openai/v1", keyName: "GROQ_API_KEY" },
  together: { kind: "openai", baseUrl: "https://api.together.ai/v1", keyName: "TOGETHER_API_KEY" },
  mistral: { kind: "openai", baseUrl: "https://api.mistral.ai/v1", keyName: "MISTRAL_API_KEY" },
  deepseek: { kind: "openai", baseUrl: "https://api.deepseek.com/v1", keyName: "DEEPSEEK_API_KEY" },
  fireworks: { kind: "openai", baseUrl: "https://api.fireworks.ai/inference/v1", keyName: "FIREWORKS_API_KEY" },
  // Its Agent API has the responses format. Its chat completions ended in September 2026.
  perplexity: {
    kind: "openai",
    baseUrl: "https://api.perplexity.ai/v1",
    keyName: "PERPLEXITY_API_KEY",
    speaks: "responses",
  },
  cerebras: { kind: "openai", baseUrl: "https://api.cerebras.ai/v1", keyName: "CEREBRAS_API_KEY" },
  nvidia: { kind: "openai", baseUrl: "https://integrate.api.nvidia.com/v1", keyName: "NVIDIA_API_KEY" },
  moonshotai: { kind: "openai", baseUrl: "https://api.moonshot.ai/v1", keyName: "MOONSHOT_API_KEY" },
  zai: { kind: "openai", baseUrl: "https://api.z.ai/api/paas/v4", keyName: "ZAI_API_KEY" },
  // Source: Azure OpenAI documentation, "v1 API": no api-version, and the name of a deployment as the model.
  azure: {
    kind: "openai",
    baseUrl: null,
    path: "/openai/v1",
    keyName: "AZURE_OPENAI_API_KEY",
    keyHeader: "api-key",
  },
  ollama: { kind: "openai", baseUrl: "http://localhost:11434/v1", keyName: null },
  vllm: { kind: "openai", baseUrl: "http://localhost:8000/v1", keyName: null },
  lmstudio: { kind: "openai", baseUrl: "http://localhost:1234/v1", keyName: null },
} as const satisfies Readonly<Record<string, VendorPreset>>;

/** A key of {@linkcode PRESETS}. */
export type PresetName = keyof typeof PRESETS;

/** The names of the presets, in their order. */
export const PRESET_NAMES: readonly [PresetName, ...PresetName[]] = Object.keys(PRESETS) as [
  PresetName,
  ...PresetName[],
];

/** The preset of a name; null for another text, such as a kind. */
export function presetOf(name: string): VendorPreset | null {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name as PresetName] : null;
}
