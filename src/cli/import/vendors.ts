import type { PresetName, ProviderKind } from "../../upstreams/kinds.ts";

/** A vendor in another program's configuration. */
export interface ImportedVendor {
  readonly kind: ProviderKind | PresetName;
  /** The first part of the ids of its built-in models. Default: none is built in. */
  readonly family?: string;
  /** The variable in which the other programs expect the key; null for servers that need none. */
  readonly keyName: string | null;
  /** What the other programs leave out of the base address: `/v1`. */
  readonly addedPath?: string;
  /** What the other programs have in the base address beyond ours. */
  readonly removedPath?: RegExp;
  /** Whether the base address must be stated. */
  readonly needsAddress?: boolean;
}

/** The vendors of LiteLLM and Bifrost by their names there, as far as this gateway has them. */
const VENDORS: Readonly<Record<string, ImportedVendor>> = {
  openai: { kind: "openai", family: "openai", keyName: "OPENAI_API_KEY" },
  anthropic: {
    kind: "anthropic",
    family: "anthropic",
    keyName: "ANTHROPIC_API_KEY",
    removedPath: /\/v1(\/messages)?$/,
  },
  gemini: { kind: "google", family: "google", keyName: "GEMINI_API_KEY", removedPath: /\/v1(beta)?$/ },
  xai: { kind: "xai", family: "xai", keyName: "XAI_API_KEY" },
  openrouter: { kind: "openrouter", family: "openrouter", keyName: "OPENROUTER_API_KEY" },
  groq: { kind: "groq", keyName: "GROQ_API_KEY" },
  together_ai: { kind: "together", keyName: "TOGETHERAI_API_KEY" },
  mistral: { kind: "mistral", family: "mistral", keyName: "MISTRAL_API_KEY" },
  deepseek: { kind: "deepseek", family: "deepseek", keyName: "DEEPSEEK_API_KEY" },
  fireworks_ai: { kind: "fireworks", keyName: "FIREWORKS_AI_API_KEY" },
  fireworks: { kind: "fireworks", keyName: "FIREWORKS_API_KEY" },
  cerebras: { kind: "cerebras", keyName: "CEREBRAS_API_KEY" },
  nvidia_nim: { kind: "nvidia", keyName: "NVIDIA_NIM_API_KEY" },
  moonshot: { kind: "moonshotai", family: "moonshotai", keyName: "MOONSHOT_API_KEY" },
  zai: { kind: "zai", family: "zai", keyName: "ZAI_API_KEY" },
  minimax: { kind: "minimax", family: "minimax", keyName: "MINIMAX_API_KEY" },
  dashscope: { kind: "alibaba", family: "alibaba", keyName: "DASHSCOPE_API_KEY" },
  perplexity: { kind: "perplexity", keyName: "PERPLEXITYAI_API_KEY" },
  ollama: { kind: "ollama", keyName: null, addedPath: "/v1" },
  ollama_chat: { kind: "ollama", keyName: null, addedPath: "/v1" },
  hosted_vllm: { kind: "vllm", keyName: null },
  vllm: { kind: "vllm", keyName: null, addedPath: "/v1" },
  lm_studio: { kind: "lmstudio", keyName: null },
  openai_like: { kind: "openai", keyName: null, needsAddress: true },
  custom_openai: { kind: "openai", keyName: null, needsAddress: true },
  litellm_proxy: { kind: "openai", keyName: null, needsAddress: true },
};

/** A vendor by its name in the other program; null if this gateway does not have it. */
export function vendorNamed(name: string): ImportedVendor | null {
  return Object.hasOwn(VENDORS, name) ? VENDORS[name] ?? null : null;
}

/** The vendor of a model that is named without one. Source: LiteLLM, `get_llm_provider`. */
export function vendorOfBareName(model: string): string | null {
  if (/^(gpt-|chatgpt-|o[1-9](-|$)|ft:gpt|codex-|dall-e|text-embedding|whisper|tts-)/.test(model)) return "openai";
  if (/^claude-/.test(model)) return "anthropic";
  return null;
}

/** Whether the servers of a kind are the operator's own, so that their models have no price. */
export function isOwnServer(kind: string): boolean {
  return kind === "ollama" || kind === "vllm" || kind === "lmstudio";
}
