import type { UpstreamKind } from "./upstream.ts";

/** A vendor kind before its adapter is loaded. */
interface KindEntry {
  /** The base URL of the kind's own vendor. */
  readonly baseUrl: string;
  /** Loads the adapter. Later calls return the same one. */
  readonly load: () => Promise<UpstreamKind>;
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
 * All vendor kinds, by the value of `kind` in the configuration. An adapter is loaded for a configured provider only,
 * so that the other adapters take no memory. What the configuration is checked by is stated here.
 */
const KINDS = {
  openai: {
    baseUrl: "https://api.openai.com/v1",
    ...LISTING,
    makes: [...IMAGES, "video", "embedding", "moderation", "rerank", ...AUDIO],
    load: async () => (await import("./openai/mod.ts")).openai,
  },
  anthropic: {
    baseUrl: "https://api.anthropic.com",
    ...LISTING,
    load: async () => (await import("./anthropic/mod.ts")).anthropic,
  },
  google: {
    baseUrl: "https://generativelanguage.googleapis.com",
    ...LISTING,
    makes: ["image", "video", "embedding", ...AUDIO],
    load: async () => (await import("./google/mod.ts")).google,
  },
  ark: {
    baseUrl: "https://ark.ap-southeast.bytepluses.com/api/v3",
    ...PLAIN,
    makes: [...IMAGES, "video"],
    load: async () => (await import("./ark/mod.ts")).ark,
  },
  xai: {
    baseUrl: "https://api.x.ai/v1",
    ...LISTING,
    makes: [...IMAGES, "video"],
    load: async () => (await import("./xai/mod.ts")).xai,
  },
  minimax: {
    baseUrl: "https://api.minimax.io",
    ...PLAIN,
    makes: ["video"],
    load: async () => (await import("./minimax/mod.ts")).minimax,
  },
  fal: {
    baseUrl: "https://queue.fal.run",
    ...PLAIN,
    makes: [...IMAGES, "video"],
    load: async () => (await import("./fal/mod.ts")).fal,
  },
  bfl: {
    baseUrl: "https://api.bfl.ai/v1",
    ...PLAIN,
    makes: IMAGES,
    load: async () => (await import("./bfl/mod.ts")).bfl,
  },
  kling: {
    baseUrl: "https://api-singapore.klingai.com",
    ...PLAIN,
    makes: ["video"],
    supportsSecretKey: true,
    load: async () => (await import("./kling/mod.ts")).kling,
  },
  alibaba: {
    baseUrl: "https://dashscope-intl.aliyuncs.com",
    ...LISTING,
    makes: [...IMAGES, "video"],
    load: async () => (await import("./alibaba/mod.ts")).alibaba,
  },
  replicate: {
    baseUrl: "https://api.replicate.com/v1",
    ...PLAIN,
    makes: [...IMAGES, "video"],
    load: async () => (await import("./replicate/mod.ts")).replicate,
  },
  runway: {
    baseUrl: "https://api.dev.runwayml.com",
    ...PLAIN,
    makes: ["video"],
    load: async () => (await import("./runway/mod.ts")).runway,
  },
  vidu: {
    baseUrl: "https://api.vidu.com",
    ...PLAIN,
    makes: ["video"],
    load: async () => (await import("./vidu/mod.ts")).vidu,
  },
  luma: {
    baseUrl: "https://agents.lumalabs.ai/v1",
    ...PLAIN,
    makes: ["video"],
    load: async () => (await import("./luma/mod.ts")).luma,
  },
  "dream-machine": {
    baseUrl: "https://api.lumalabs.ai/dream-machine/v1",
    ...PLAIN,
    makes: ["video"],
    load: async () => (await import("./luma/mod.ts")).dreamMachine,
  },
  pika: {
    baseUrl: "https://api.dev.pika.art",
    ...PLAIN,
    makes: ["video"],
    load: async () => (await import("./pika/mod.ts")).pika,
  },
  vertex: {
    baseUrl: "https://aiplatform.googleapis.com",
    ...PLAIN,
    makes: ["video", "embedding", ...AUDIO],
    load: async () => (await import("./vertex/mod.ts")).vertex,
  },
  bedrock: {
    baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com",
    ...PLAIN,
    makes: ["embedding"],
    supportsSecretKey: true,
    load: async () => (await import("./bedrock/mod.ts")).bedrock,
  },
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

/** The base URL of the kind's own vendor. */
export function vendorBaseUrl(name: ProviderKind): string {
  return KINDS[name].baseUrl;
}

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
