import { type LoadedConfig, readTree, withStoredStates } from "./config.ts";
import { layTree } from "./config_tree.ts";
import { type ConfigTree, type StoredConfig, treeOf } from "./tree/plain_tree.ts";
import { type FamilyAddresses, familyModels, familyProviders } from "./dev_models.ts";
import type { Environment } from "./tree/expansion.ts";
import { applyOverrides } from "./overrides.ts";
import { Problems } from "./tree/problems.ts";
import { withEntries } from "./setting_entries.ts";

/** What declares the settings. */
const COMMAND = "dev";

/** The store of `deno task dev`. */
export const DEV_STORE = "kv:./data/dev.db";
/** The file with the API key of the account of `dev`, which is the same at every start. */
export const DEV_KEY_PATH = "./data/dev-key";
/** The jobs of the simulated vendors of `dev`, which go on after a restart as those of real vendors do. */
export const DEV_JOBS_FOLDER = "./data/dev-vendors";
/** The folder of files of `deno task dev`. */
export const DEV_FILES = "./data/dev-files";

/** Values that `deno task dev` knows only at run time. */
export interface DevOptions {
  /** Base addresses of the simulated vendors, in the form that each vendor's own client expects. */
  readonly sandbox: FamilyAddresses & {
    readonly anthropic: string;
    readonly google: string;
    readonly bedrock: string;
    readonly ark: string;
    readonly bfl: string;
    readonly kling: string;
    readonly fal: string;
    readonly replicate: string;
    readonly openrouter: string;
    readonly runway: string;
  };
  /** The demo account's API key. */
  readonly key: string;
  /** For HOST, PORT and the other overrides. */
  readonly env: Environment;
  /** The settings in the store, which the console and the admin API change. Default: none. */
  readonly stored?: StoredConfig;
}

/** Invented prices, the same for all sandbox models, so that a bill can be checked by eye. */
const TOKEN_PRICING = { prompt: "0.000001", completion: "0.000002", input_cache_read: "0.0000001" };
const PRICING = { ...TOKEN_PRICING, input_cache_write: "0.00000125" };

const TEXT_MODEL = {
  created: "2026-01-01",
  context_length: 128_000,
  top_provider: { max_completion_tokens: 64_000 },
  pricing: PRICING,
  architecture: { input_modalities: ["text", "image"] },
  supported_parameters: [
    "temperature",
    "top_p",
    "max_tokens",
    "stop",
    "tools",
    "tool_choice",
    "response_format",
    "reasoning",
  ],
};

const VIDEO = {
  modes: ["text2video", "img2video", "img2video_end", "imgref2video", "mixref2video"],
  price_per_second: { "480p": "0.05", "720p": "0.10", "1080p": "0.30" },
  duration: { min: 2, max: 12, default: 5 },
};

/** Each makes the same one-second video after one second, in the manner of a different vendor. */
const VIDEO_MODELS = [
  {
    id: "sandbox/video-1",
    name: "Sandbox Video",
    description: "A simulated video model: one second of moving bars, after one second.",
    video: VIDEO,
    serves: [{ provider: "sandbox-ark", model: "seedance-sandbox" }],
  },
  {
    id: "sandbox/video-kling-1",
    name: "Sandbox Video Kling",
    description: "A simulated video model with the API of Kling, without audio references.",
    video: {
      ...VIDEO,
      price_per_second: { "720p": "0.10", "1080p": "0.30" },
      aspect_ratios: ["16:9", "9:16", "1:1"],
      references: { image: 7, audio: 0, video: 1 },
    },
    serves: [{ provider: "sandbox-kling", model: "kling-sandbox-omni" }],
  },
  {
    id: "sandbox/video-openrouter-1",
    name: "Sandbox Video OpenRouter",
    description: "A simulated video model with the API of OpenRouter.",
    video: VIDEO,
    serves: [{ provider: "sandbox-openrouter", model: "sandbox/video" }],
  },
  {
    id: "sandbox/video-queue-1",
    name: "Sandbox Video Queue",
    description: "A simulated video model with the APIs of fal and Replicate.",
    video: VIDEO,
    serves: [
      { provider: "sandbox-fal", model: "bytedance/seedance-2.0" },
      { provider: "sandbox-replicate", model: "bytedance/seedance-2.0" },
    ],
  },
  {
    id: "sandbox/video-runway-1",
    name: "Sandbox Video Runway",
    description: "A simulated video model with the API of Runway's Seedance.",
    video: { ...VIDEO, aspect_ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"] },
    serves: [{ provider: "sandbox-runway", model: "seedance2" }],
  },
];

/** The sizes that the simulated vendor makes. */
const IMAGE_SIZES = ["auto", "1024x1024", "1536x1024", "1024x1536", "1792x1024", "1024x1792"];
const IMAGE_PRICING = { ...TOKEN_PRICING, image_input: "0.000002", image_output: "0.00001" };

/** One model for each image series. */
const IMAGE_MODELS = [
  {
    id: "sandbox/image-1",
    name: "Sandbox Image",
    description: "A simulated image model that generates and edits images.",
    pricing: IMAGE_PRICING,
    image: { series: "default", edits: true, sizes: IMAGE_SIZES, quality_map: { standard: "medium", hd: "high" } },
    serves: [{ provider: "sandbox-openai", model: "image-1" }],
  },
  {
    id: "sandbox/gpt-image-2.5-flare",
    name: "Sandbox GPT Image 2.5 Flare",
    description: "A simulated image model that also makes animations (gif) and drawings (svg).",
    pricing: IMAGE_PRICING,
    image: {
      series: "default",
      edits: true,
      sizes: IMAGE_SIZES,
      qualities: ["auto", "low", "medium", "high", "xhigh", "max"],
      output_formats: ["png", "jpeg", "webp", "gif", "svg"],
      svg_author: "sandbox/gpt-6.2-sol",
    },
    serves: [{ provider: "sandbox-openai", model: "gpt-image-2.5-flare" }],
  },
  {
    id: "sandbox/image-multimodal-1",
    name: "Sandbox Image Multimodal",
    description: "A simulated image model of the multimodal series.",
    pricing: IMAGE_PRICING,
    image: { series: "multimodal" },
    serves: [{ provider: "sandbox-google", model: "image-multimodal-1" }],
  },
  {
    id: "sandbox/image-reference-1",
    name: "Sandbox Image Reference",
    description: "A simulated image model that uses reference images.",
    pricing: { per_image: "0.04" },
    image: { series: "reference" },
    serves: [{ provider: "sandbox-ark", model: "seedream-5-0-pro" }],
  },
  {
    id: "sandbox/image-job-1",
    name: "Sandbox Image Job",
    description: "A simulated image model that generates images in asynchronous jobs.",
    pricing: { per_image: "0.03", per_input_image: "0.01" },
    image: { series: "reference", edits: true, sizes: IMAGE_SIZES },
    serves: [
      { provider: "sandbox-bfl", model: "flux-2-pro" },
      { provider: "sandbox-fal", model: "fal-ai/flux-2-pro" },
      { provider: "sandbox-replicate", model: "black-forest-labs/flux-2-pro" },
    ],
  },
];

/** One model for each endpoint that answers a request in one piece. */
const OTHER_MODELS = [
  {
    id: "sandbox/embedding-1",
    name: "Sandbox Embedding",
    description: "A simulated model that makes embeddings.",
    context_length: 8_192,
    pricing: { prompt: "0.0000001" },
    embedding: { dimensions: 256 },
    serves: [{ provider: "sandbox-openai" }, { provider: "sandbox-google", weight: 0 }],
  },
  {
    id: "sandbox/moderation-1",
    name: "Sandbox Moderation",
    description: "A simulated model that flags texts about violence.",
    pricing: { request: "0.000001" },
    moderation: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/rerank-1",
    name: "Sandbox Rerank",
    description: "A simulated model that ranks documents by the words that they share with the query.",
    pricing: { search_unit: "0.001" },
    rerank: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/speech-1",
    name: "Sandbox Speech",
    description: "A simulated model that speaks a tone for each word.",
    pricing: { character: "0.000015" },
    speech: {},
    serves: [{ provider: "sandbox-openai" }, { provider: "sandbox-google", weight: 0 }],
  },
  {
    id: "sandbox/transcription-1",
    name: "Sandbox Transcription",
    description: "A simulated model that repeats the prompt of a transcription.",
    pricing: { audio_second: "0.0001" },
    transcription: { translates: true },
    serves: [{ provider: "sandbox-openai" }, { provider: "sandbox-google", weight: 0 }],
  },
];

/** The simulated vendors charge nothing, so their hosted tools need no price. */
const FREE = { api_key: "sandbox", allow_tools: ["*", "web_search"] };

/**
 * The configuration of `deno task dev`: sandbox vendors in place of real ones, a small catalog with a price on
 * everything, and a demo account with 25 USD.
 *
 * @throws {ConfigError} If an override does not fit.
 */
export function devConfig({ sandbox, key, env, stored = {} }: DevOptions): LoadedConfig {
  const problems = new Problems(COMMAND);
  const declared = {
    store: DEV_STORE,
    files: DEV_FILES,
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    providers: {
      "sandbox-openai": { kind: "openai", base_url: sandbox.openai, speaks: "both", quirks: [], ...FREE },
      "sandbox-anthropic": { kind: "anthropic", base_url: sandbox.anthropic, ...FREE },
      "sandbox-google": { kind: "google", base_url: sandbox.google, ...FREE },
      "sandbox-bedrock": {
        kind: "bedrock",
        base_url: sandbox.bedrock,
        region: "us-east-1",
        api_key: "sandbox",
        secret_key: "sandbox-secret",
      },
      "sandbox-ark": { kind: "ark", base_url: sandbox.ark, ...FREE },
      "sandbox-bfl": { kind: "bfl", base_url: sandbox.bfl, ...FREE },
      "sandbox-kling": { kind: "kling", base_url: sandbox.kling, api_key: "sandbox", secret_key: "sandbox-secret" },
      "sandbox-fal": { kind: "fal", base_url: sandbox.fal, ...FREE },
      "sandbox-replicate": { kind: "replicate", base_url: sandbox.replicate, ...FREE },
      "sandbox-openrouter": { kind: "openai", base_url: sandbox.openrouter, ...FREE },
      "sandbox-runway": { kind: "runway", base_url: sandbox.runway, ...FREE },
      ...familyProviders(sandbox, FREE),
    },
    models: [
      servedBy("sandbox/chat-1", "Sandbox Chat", "Supports chat completions and responses.", { "sandbox-openai": 1 }),
      servedBy("sandbox/messages-1", "Sandbox Messages", "Supports messages.", { "sandbox-anthropic": 1 }),
      servedBy("sandbox/content-1", "Sandbox Content", "Supports content generation.", { "sandbox-google": 1 }),
      servedBy("sandbox/any-1", "Sandbox Any", "Served by all three sandbox providers, by weight.", {
        "sandbox-openai": 50,
        "sandbox-anthropic": 30,
        "sandbox-google": 20,
      }),
      {
        ...textModel("sandbox/converse-1", "Sandbox Converse", "Supports Converse, as at Amazon Bedrock."),
        serves: [{ provider: "sandbox-bedrock", model: "amazon.nova-2-sandbox-v1:0" }],
      },
      ...familyModels(PRICING),
      ...[...IMAGE_MODELS, ...VIDEO_MODELS, ...OTHER_MODELS].map((model) => ({ created: "2026-01-01", ...model })),
    ],
    limits: { vendor_polling: { first: 1, least: 1 } },
    // The results of the simulated vendors are on this machine.
    egress: { allow: ["127.0.0.1/32"] },
  };
  const tree = { ...declared };
  applyOverrides(tree, env, problems);
  const written = layTree({ source: COMMAND, file: declared, tree, stored, env, problems });
  const read = readTree(written.sections, problems);
  const config = { ...read, providers: withStoredStates(read.providers, stored) };
  const shown = treeOf(withEntries(written, config));
  const ownerOf: ConfigTree["ownerOf"] = (section, name) => {
    const owner = shown.ownerOf(section, name);
    return owner === "file" ? "command" : owner;
  };
  return { config, tree: { ...shown, ownerOf } };
}

function servedBy(id: string, name: string, description: string, weights: Record<string, number>): unknown {
  const serves = Object.entries(weights).map(([provider, weight]) => ({ provider, weight }));
  return { ...textModel(id, name, description), serves };
}

function textModel(id: string, name: string, description: string) {
  return { ...TEXT_MODEL, id, name, description: `A simulated text model. ${description}` };
}
