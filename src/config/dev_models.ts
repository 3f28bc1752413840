import { defaultQuirks } from "../vendors/upstreams/settings/default_quirks.ts";
import { type VendorName, VENDORS } from "../vendors/upstreams/vendors.ts";

/** Base addresses of the simulated vendors that only the models of {@linkcode FAMILY_MODELS} use. */
export interface FamilyAddresses {
  readonly openai: string;
  readonly azure: string;
  readonly xai: string;
  readonly alibaba: string;
  readonly deepseek: string;
  readonly moonshot: string;
  readonly zai: string;
  readonly groq: string;
  readonly mistral: string;
  readonly cohere: string;
}

/** A model that a simulated vendor treats as the real vendor treats the model of that name. */
interface FamilyModel {
  /** The vendor's name, which follows `sandbox/` in the id. */
  readonly name: string;
  readonly provider: string;
  /** What the vendor refuses, or why the model is here. */
  readonly about: string;
  /** Default: `sandbox/<name>`. */
  readonly id?: string;
}

const OPENAI: readonly FamilyModel[] = [
  { name: "gpt-4.1", provider: "sandbox-openai", about: "It does not reason." },
  { name: "gpt-5", provider: "sandbox-openai", about: "It always reasons, and has the effort minimal." },
  { name: "gpt-5.4", provider: "sandbox-openai", about: "It reasons only at an effort, then without tools in chat." },
  { name: "gpt-5.5", provider: "sandbox-openai", about: "It reasons by default, then without tools in chat." },
  { name: "gpt-5.6-terra", provider: "sandbox-openai", about: "It has the effort max, but not in chat." },
  { name: "gpt-6-sol", provider: "sandbox-openai", about: "It reasons at medium, and refuses sampling then." },
  { name: "gpt-6.2-sol", provider: "sandbox-openai", about: "It has no effort none, so no tools in chat." },
  { name: "gpt-6.1-sol", provider: "sandbox-azure", about: "It has no effort none; Azure." },
  {
    name: "gpt-6-sol",
    provider: "sandbox-chat",
    about: "Its provider has chat completions only.",
    id: "sandbox/chat-only-gpt-6-sol",
  },
];

const ANTHROPIC: readonly FamilyModel[] = [
  { name: "claude-fable-5-2", provider: "sandbox-anthropic", about: "It always thinks, and takes no forced calls." },
  { name: "claude-opus-5-5", provider: "sandbox-anthropic", about: "It always thinks, and takes no forced calls." },
  { name: "claude-sonnet-5-5", provider: "sandbox-anthropic", about: "Thinking can be off between tools only." },
  { name: "claude-haiku-5-5", provider: "sandbox-anthropic", about: "Thinking can be off up to the effort high." },
  { name: "claude-opus-5", provider: "sandbox-anthropic", about: "Forced calls, no budgets, no sampling." },
  { name: "claude-opus-4-8", provider: "sandbox-anthropic", about: "It thinks on request, also with forced calls." },
  { name: "claude-sonnet-4-6", provider: "sandbox-anthropic", about: "Efforts or budgets, one sampling setting." },
  { name: "claude-haiku-4-5", provider: "sandbox-anthropic", about: "Budgets only; it goes on after a last turn." },
];

const GOOGLE: readonly FamilyModel[] = [
  { name: "gemini-4-argon", provider: "sandbox-google", about: "Levels from low, no penalties, no caches." },
  { name: "gemini-4-neon", provider: "sandbox-google", about: "It has the level xhigh." },
  { name: "gemini-3.8-flash", provider: "sandbox-google", about: "Levels from low, no penalties." },
  { name: "gemini-3.6-flash", provider: "sandbox-google", about: "Levels from minimal." },
  { name: "gemini-2.5-flash-lite", provider: "sandbox-google", about: "Budgets; no schema together with functions." },
];

const OTHERS: readonly FamilyModel[] = [
  { name: "grok-4.7", provider: "sandbox-xai", about: "It always reasons; no stop, no penalties." },
  { name: "qwen3.8-max", provider: "sandbox-alibaba", about: "No files." },
  { name: "deepseek-v4-pro", provider: "sandbox-deepseek", about: "Reasoning of tool turns goes back to it." },
  { name: "kimi-k3", provider: "sandbox-moonshot", about: "It always reasons; no forced calls." },
  { name: "glm-5.3", provider: "sandbox-zai", about: "It always reasons, at low, high or max." },
  { name: "openai/gpt-oss-120b", provider: "sandbox-groq", about: "Efforts low to high.", id: "sandbox/gpt-oss-120b" },
  { name: "mistral-large-4", provider: "sandbox-mistral", about: "Unknown fields are refused; short ids of calls." },
  { name: "command-a-03-2025", provider: "sandbox-cohere", about: "Empty turns are refused." },
];

const COMMON = {
  created: "2026-01-01",
  context_length: 128_000,
  top_provider: { max_completion_tokens: 64_000 },
  architecture: { input_modalities: ["text", "image"] },
};

/**
 * A model for each family whose vendor refuses something that others accept. The families' facts apply to them, so
 * that they state no parameters.
 *
 * @param pricing In US dollars per token, as in the configuration.
 */
export function familyModels(pricing: Readonly<Record<string, string>>): readonly Readonly<Record<string, unknown>>[] {
  return [...OPENAI, ...ANTHROPIC, ...GOOGLE, ...OTHERS].map(({ name, provider, about, id = `sandbox/${name}` }) => ({
    ...COMMON,
    id,
    name: `Sandbox ${id.slice("sandbox/".length)}`,
    description: `A simulated text model that is refused what ${name} is. ${about}`,
    pricing,
    serves: [{ provider, model: name }],
  }));
}

/** The providers of these models that serve no others. Each has the quirks of the real vendor. */
export function familyProviders(
  sandbox: FamilyAddresses,
  common: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const compatible = (base_url: string, name: VendorName) => ({
    kind: "openai",
    base_url,
    quirks: [...defaultQuirks("openai", new URL(VENDORS[name].baseUrl ?? base_url))],
    ...common,
  });
  return {
    "sandbox-chat": { kind: "openai", base_url: sandbox.openai, speaks: "chat", quirks: [], ...common },
    "sandbox-azure": {
      kind: "openai",
      base_url: `${sandbox.azure}/openai/v1`,
      speaks: "chat_first",
      quirks: ["no_file_parts"],
      ...common,
    },
    "sandbox-xai": { kind: "xai", base_url: sandbox.xai, ...common },
    "sandbox-alibaba": compatible(`${sandbox.alibaba}/compatible-mode/v1`, "alibaba"),
    "sandbox-deepseek": compatible(sandbox.deepseek, "deepseek"),
    "sandbox-moonshot": compatible(sandbox.moonshot, "moonshotai"),
    "sandbox-zai": compatible(sandbox.zai, "zai"),
    "sandbox-groq": compatible(sandbox.groq, "groq"),
    "sandbox-mistral": compatible(sandbox.mistral, "mistral"),
    "sandbox-cohere": compatible(sandbox.cohere, "cohere"),
  };
}
