/** The input fields of an image model on Replicate. The model does not support an absent field. */
export interface ReplicateImageInputs {
  /** The field of a single image. */
  readonly image?: string;
  /** The field of a list of images. */
  readonly images?: string;
  /** The values of `aspect_ratio`. */
  readonly ratios?: readonly string[];
  /** Whether `aspect_ratio` can be `match_input_image`. */
  readonly matchesInput?: boolean;
  /** The values of `output_format` by the gateway's values. */
  readonly formats?: Readonly<Record<string, string>>;
  /** The values of `quality`. */
  readonly qualities?: readonly string[];
  /** The values of `background`. */
  readonly backgrounds?: readonly string[];
}

const COMMON_RATIOS = ["1:1", "16:9", "3:2", "2:3", "4:5", "5:4", "9:16", "3:4", "4:3"];
const WIDE_RATIOS = [...COMMON_RATIOS, "21:9", "9:21"];
const JPG_OR_PNG = { jpeg: "jpg", png: "png" };
const ANY_FORMAT = { ...JPG_OR_PNG, webp: "webp" };

/** For models without a description. */
const COMMON: ReplicateImageInputs = { image: "image", ratios: COMMON_RATIOS };

/**
 * Models by name prefix. The first match applies. Source: Replicate, the input schemas on the pages of these models,
 * "API", "Schema".
 */
const MODELS: readonly (readonly [prefix: string, inputs: ReplicateImageInputs])[] = [
  ["black-forest-labs/flux-2", {
    images: "input_images",
    ratios: COMMON_RATIOS,
    matchesInput: true,
    formats: ANY_FORMAT,
  }],
  ["black-forest-labs/flux-kontext-dev", {
    image: "input_image",
    ratios: WIDE_RATIOS,
    matchesInput: true,
    formats: ANY_FORMAT,
  }],
  ["black-forest-labs/flux-kontext", {
    image: "input_image",
    ratios: WIDE_RATIOS,
    matchesInput: true,
    formats: JPG_OR_PNG,
  }],
  ["black-forest-labs/flux-1.1-pro-ultra", { image: "image_prompt", ratios: WIDE_RATIOS, formats: JPG_OR_PNG }],
  ["black-forest-labs/flux-1.1-pro", { image: "image_prompt", ratios: COMMON_RATIOS, formats: ANY_FORMAT }],
  ["black-forest-labs/flux-pro", { image: "image_prompt", ratios: COMMON_RATIOS, formats: ANY_FORMAT }],
  ["black-forest-labs/flux-dev", { image: "image", ratios: WIDE_RATIOS, formats: ANY_FORMAT }],
  ["black-forest-labs/flux-schnell", { ratios: WIDE_RATIOS, formats: ANY_FORMAT }],
  ["google/nano-banana", {
    images: "image_input",
    ratios: [...COMMON_RATIOS, "21:9"],
    matchesInput: true,
    formats: JPG_OR_PNG,
  }],
  ["google/imagen-4", { ratios: ["1:1", "9:16", "16:9", "3:4", "4:3"], formats: JPG_OR_PNG }],
  ["bytedance/seedream-", {
    images: "image_input",
    ratios: ["1:1", "4:3", "3:4", "16:9", "9:16", "3:2", "2:3", "21:9"],
    matchesInput: true,
  }],
  ["qwen/qwen-image-edit-plus", {
    images: "image",
    ratios: ["1:1", "16:9", "9:16", "4:3", "3:4"],
    matchesInput: true,
    formats: ANY_FORMAT,
  }],
  ["qwen/qwen-image-edit", { image: "image", formats: ANY_FORMAT }],
  ["qwen/qwen-image", { ratios: ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"], formats: ANY_FORMAT }],
  ["stability-ai/stable-diffusion-3.5", { image: "image", ratios: WIDE_RATIOS, formats: ANY_FORMAT }],
  ["openai/gpt-image", {
    images: "input_images",
    ratios: ["1:1", "3:2", "2:3"],
    formats: { png: "png", jpeg: "jpeg", webp: "webp" },
    qualities: ["low", "medium", "high", "auto"],
    backgrounds: ["auto", "transparent", "opaque"],
  }],
];

/** Returns the input fields of a model, with or without a version. */
export function imageInputsOf(model: string): ReplicateImageInputs {
  return MODELS.find(([prefix]) => model.startsWith(prefix))?.[1] ?? COMMON;
}
