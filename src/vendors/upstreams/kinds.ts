/** What is known of a vendor kind before its adapter is loaded. */
interface KindEntry {
  /** Whether a secret key for signing is supported. */
  readonly supportsSecretKey: boolean;
  /** Whether the vendor has a list of models. */
  readonly listsModels: boolean;
  /** What the adapter makes besides text. */
  readonly makes: readonly Made[];
}

/** What a model makes, by the name of its section; `edits` is `edits: true` of the section `image`. */
export type Made =
  | "image"
  | "edits"
  | "video"
  | "embedding"
  | "moderation"
  | "rerank"
  | "speech"
  | "transcription";

const PLAIN = { supportsSecretKey: false, listsModels: false, makes: [] } satisfies Partial<KindEntry>;
const LISTING = { ...PLAIN, listsModels: true };
const IMAGES = ["image", "edits"] as const;
const AUDIO = ["speech", "transcription"] as const;

/**
 * All vendor kinds, by the value of `kind` in the configuration, with what the configuration is checked by. Their
 * adapters are in `adapters.ts`, and the vendors in `vendors.ts`.
 */
const KINDS = {
  openai: { ...LISTING, makes: [...IMAGES, "video", "embedding", "moderation", "rerank", ...AUDIO] },
  anthropic: LISTING,
  google: { ...LISTING, makes: ["image", "video", "embedding", ...AUDIO] },
  ark: { ...PLAIN, makes: [...IMAGES, "video"] },
  xai: { ...LISTING, makes: [...IMAGES, "video"] },
  minimax: { ...PLAIN, makes: ["video"] },
  fal: { ...PLAIN, makes: [...IMAGES, "video"] },
  bfl: { ...PLAIN, makes: IMAGES },
  kling: { ...PLAIN, makes: ["video"], supportsSecretKey: true },
  alibaba: { ...LISTING, makes: [...IMAGES, "video"] },
  replicate: { ...PLAIN, makes: [...IMAGES, "video"] },
  runway: { ...PLAIN, makes: ["video"] },
  vidu: { ...PLAIN, makes: ["video"] },
  luma: { ...PLAIN, makes: ["video"] },
  "dream-machine": { ...PLAIN, makes: ["video"] },
  pika: { ...PLAIN, makes: ["video"] },
  vertex: { ...PLAIN, makes: ["video", "embedding", ...AUDIO] },
  bedrock: { ...PLAIN, makes: ["embedding"], supportsSecretKey: true },
} satisfies Readonly<Record<string, KindEntry>>;

/** A key of {@linkcode KINDS}. */
export type ProviderKind = keyof typeof KINDS;

/** Whether providers of the kind take a secret key for signing. */
export function supportsSecretKey(name: ProviderKind): boolean {
  return KINDS[name].supportsSecretKey;
}

/** Whether vendors of the kind have a list of models. */
export function listsModels(name: ProviderKind): boolean {
  return KINDS[name].listsModels;
}

/**
 * What a provider makes besides text.
 *
 * @param isDated Whether it calls deployments of Azure OpenAI by the dated API.
 */
export function madeBy(name: ProviderKind, isDated = false): readonly Made[] {
  return isDated ? MADE_BY_DEPLOYMENTS : KINDS[name].makes;
}

const MADE_BY_DEPLOYMENTS: readonly Made[] = [...IMAGES, "embedding", ...AUDIO];

/** The names of the kinds, in their order. */
export const PROVIDER_KINDS: readonly [ProviderKind, ...ProviderKind[]] = Object.keys(KINDS) as [
  ProviderKind,
  ...ProviderKind[],
];
