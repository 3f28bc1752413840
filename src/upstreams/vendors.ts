import { ownValue } from "../lib/own_value.ts";
import type { ProviderKind } from "./kinds.ts";

/** What the gateway knows of a vendor before it loads the adapter: its address, and the variables of its clients. */
export interface Vendor {
  readonly kind: ProviderKind;
  /**
   * The base URL that the vendor documents for clients of the kind, if it is not the kind's own vendor; null if every
   * account has its own. A vendor with one is a preset: its name can be the value of `kind`.
   */
  readonly baseUrl?: string | null;
  /** Variables of the key. The first that is set counts. None for servers that need no key. */
  readonly keyNames: readonly string[];
  /** Variables of a key and its secret key, for accounts without a key in `keyNames`. */
  readonly pairNames?: readonly [key: string, secretKey: string];
  /** The variable of the key for the vendor's reports. Default: none. */
  readonly reportKeyName?: string;
  /** Variables of a base address that replaces the default. The first that is set counts. Default: none. */
  readonly addressNames?: readonly string[];
  /** Whether models of the vendor are built in, with their prices; their ids begin with its name. Default: yes. */
  readonly hasBuiltInModels?: false;
  /** Whether the vendor has a list with the names that requests need. Default: if the kind has. */
  readonly listsModels?: false;
  /** What is added to a base URL that does not end in it. Default: nothing. */
  readonly path?: string;
  /** The header field of the key. Default: that of the kind. */
  readonly keyHeader?: string;
  /** The text endpoints, where the vendor has other ones than chat completions. */
  readonly speaks?: "responses";
}

/**
 * All vendors, by the name of the provider that the variables of their clients enable. The quirks of a vendor follow
 * from its address, as for every provider. Sources: the vendors' pages on their clients and on OpenAI compatibility,
 * autumn 2026.
 */
const ROWS = {
  openai: { kind: "openai", ...named("OPENAI"), reportKeyName: "OPENAI_ADMIN_KEY" },
  anthropic: { kind: "anthropic", ...named("ANTHROPIC"), reportKeyName: "ANTHROPIC_ADMIN_KEY" },
  google: {
    kind: "google",
    keyNames: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    addressNames: ["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
  },
  xai: { kind: "xai", ...named("XAI") },
  bytedance: { kind: "ark", ...named("ARK") },
  deepseek: { kind: "openai", baseUrl: "https://api.deepseek.com/v1", ...named("DEEPSEEK") },
  moonshotai: { kind: "openai", baseUrl: "https://api.moonshot.ai/v1", ...named("MOONSHOT") },
  alibaba: { kind: "alibaba", ...named("DASHSCOPE") },
  zai: { kind: "openai", baseUrl: "https://api.z.ai/api/paas/v4", ...named("ZAI") },
  minimax: { kind: "minimax", ...named("MINIMAX") },
  fal: { kind: "fal", ...named("FAL"), keyNames: ["FAL_KEY", "FAL_API_KEY"] },
  "black-forest-labs": { kind: "bfl", ...named("BFL") },
  kling: { kind: "kling", ...named("KLING"), pairNames: ["KLING_ACCESS_KEY", "KLING_SECRET_KEY"] },
  replicate: { kind: "replicate", ...named("REPLICATE"), keyNames: ["REPLICATE_API_TOKEN", "REPLICATE_API_KEY"] },
  runway: { kind: "runway", ...named("RUNWAYML"), keyNames: ["RUNWAYML_API_SECRET"] },
  vidu: { kind: "vidu", ...named("VIDU") },
  luma: { kind: "luma", ...named("LUMA"), keyNames: ["LUMA_AGENTS_API_KEY", "LUMA_API_KEY"] },
  pika: { kind: "pika", ...named("PIKA") },
  mistral: { kind: "openai", baseUrl: "https://api.mistral.ai/v1", ...named("MISTRAL") },
  groq: { kind: "openai", baseUrl: "https://api.groq.com/openai/v1", ...named("GROQ") },
  cohere: { kind: "openai", baseUrl: "https://api.cohere.ai/compatibility/v1", ...named("COHERE") },
  openrouter: {
    kind: "openai",
    baseUrl: "https://openrouter.ai/api/v1",
    ...named("OPENROUTER"),
    reportKeyName: "OPENROUTER_MANAGEMENT_KEY",
  },
  together: listed("https://api.together.ai/v1", "TOGETHER"),
  fireworks: listed("https://api.fireworks.ai/inference/v1", "FIREWORKS"),
  // Its Agent API has the responses format. Its chat completions ended in September 2026.
  perplexity: {
    ...listed("https://api.perplexity.ai/v1", "PERPLEXITY"),
    speaks: "responses",
    listsModels: false,
  },
  cerebras: listed("https://api.cerebras.ai/v1", "CEREBRAS"),
  nvidia: listed("https://integrate.api.nvidia.com/v1", "NVIDIA"),
  // Source: DeepInfra documentation, "OpenAI-compatible API".
  deepinfra: listed("https://api.deepinfra.com/v1/openai", "DEEPINFRA"),
  // Source: Nebius Token Factory documentation, "API introduction".
  nebius: listed("https://api.tokenfactory.nebius.com/v1", "NEBIUS"),
  // Source: Azure OpenAI documentation, "v1 API": no api-version, and the name of a deployment as the model.
  azure: {
    kind: "openai",
    baseUrl: null,
    path: "/openai/v1",
    keyNames: ["AZURE_OPENAI_API_KEY"],
    keyHeader: "api-key",
    hasBuiltInModels: false,
    listsModels: false,
  },
  ollama: ownServer("http://localhost:11434/v1"),
  vllm: ownServer("http://localhost:8000/v1"),
  lmstudio: ownServer("http://localhost:1234/v1"),
} as const satisfies Readonly<Record<string, Vendor>>;

/** The name of a vendor. */
export type VendorName = keyof typeof ROWS;

/** All vendors, in order. */
export const VENDORS: Readonly<Record<VendorName, Vendor>> = ROWS;

/** The vendors with built-in models, whose ids begin with their names. */
export const BUILT_IN_VENDORS: readonly VendorName[] = (Object.keys(ROWS) as VendorName[])
  .filter((name) => VENDORS[name].hasBuiltInModels ?? true);

/** The name of a vendor whose format is that of another kind. */
export type PresetName = {
  [Name in VendorName]: typeof ROWS[Name] extends { readonly baseUrl: string | null } ? Name : never;
}[VendorName];

/** A vendor whose format is that of another kind, with its address. */
export type VendorPreset = Vendor & Required<Pick<Vendor, "baseUrl">>;

/** The names of the presets, in their order. */
export const PRESET_NAMES: readonly [PresetName, ...PresetName[]] = Object.keys(ROWS)
  .filter((name) => presetOf(name) !== null) as [PresetName, ...PresetName[]];

/** The preset of a name; null for another text, such as a kind. */
export function presetOf(name: string): VendorPreset | null {
  const vendor = ownValue<Vendor>(ROWS, name);
  return vendor !== undefined && isPreset(vendor) ? vendor : null;
}

/** The value of `kind` for a vendor: the name of a preset, which also says which formats the vendor has. */
export function kindNameOf(name: string, { kind }: Vendor): string {
  return presetOf(name) === null ? kind : name;
}

function isPreset(vendor: Vendor): vendor is VendorPreset {
  return vendor.baseUrl !== undefined;
}

/** The variables of a vendor whose names begin alike. */
function named<Prefix extends string>(prefix: Prefix) {
  return { keyNames: [`${prefix}_API_KEY`], addressNames: [`${prefix}_BASE_URL`] } as const;
}

/** A vendor of OpenAI's format whose models are in its list, without prices. */
function listed(baseUrl: string, prefix: string) {
  return { kind: "openai", baseUrl, ...named(prefix), hasBuiltInModels: false } as const;
}

/** A server of the operator's own. */
function ownServer(baseUrl: string) {
  return { kind: "openai", baseUrl, keyNames: [], hasBuiltInModels: false } as const;
}
