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
} satisfies Readonly<Record<string, KindEntry>>;

/** A key of {@linkcode KINDS}. */
export type ProviderKind = keyof typeof KINDS;

/** Loads the adapter of a kind. */
export function loadKind(name: ProviderKind): Promise<UpstreamKind> {
  return KINDS[name].load();
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
