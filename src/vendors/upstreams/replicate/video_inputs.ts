import type { NamedInputs } from "../shared/videos/named_inputs.ts";

/** The fields of most video models on Replicate, for models without a description. */
const COMMON: NamedInputs = {
  firstFrame: "image",
  lastFrame: "last_frame_image",
  images: "reference_images",
  videos: "reference_videos",
  audios: "reference_audios",
  sound: "generate_audio",
  duration: "number",
  takesRatio: true,
  takesSeed: true,
  resolutions: [],
};

const SEEDANCE_1_FAST: NamedInputs = {
  firstFrame: "image",
  duration: "number",
  takesRatio: true,
  takesSeed: true,
  resolutions: [],
};

const SEEDANCE_1: NamedInputs = { ...SEEDANCE_1_FAST, lastFrame: "last_frame_image" };

const VEO: NamedInputs = {
  firstFrame: "image",
  duration: "number",
  takesRatio: true,
  takesSeed: true,
  resolutions: [],
};

/** Models with one resolution. */
const KLING: NamedInputs = { firstFrame: "start_image", duration: "number", takesRatio: true };
const KLING_TIERS: NamedInputs["tier"] = {
  field: "mode",
  values: { "720p": "standard", "1080p": "pro", "4K": "4k" },
};

/** The shape is that of the frame, or 16:9 without one. */
const HAILUO: NamedInputs = { firstFrame: "first_frame_image", duration: "number", resolutions: ["768p", "1080p"] };

/**
 * Models by name prefix. The first match applies. Source: Replicate, the input schemas on the pages of these models,
 * "API", "Schema".
 */
const MODELS: readonly (readonly [prefix: string, inputs: NamedInputs])[] = [
  ["bytedance/seedance-2", COMMON],
  ["bytedance/seedance-1.5", { ...SEEDANCE_1, sound: "generate_audio" }],
  ["bytedance/seedance-1-lite", { ...SEEDANCE_1, images: "reference_images" }],
  ["bytedance/seedance-1-pro-fast", SEEDANCE_1_FAST],
  ["bytedance/seedance-1-", SEEDANCE_1],
  ["google/veo-3.1-lite", { ...VEO, lastFrame: "last_frame" }],
  ["google/veo-3.1-fast", { ...VEO, lastFrame: "last_frame", sound: "generate_audio" }],
  ["google/veo-3.1", { ...VEO, lastFrame: "last_frame", images: "reference_images", sound: "generate_audio" }],
  ["google/veo-3", { ...VEO, sound: "generate_audio" }],
  ["kwaivgi/kling-v3-omni", {
    ...KLING,
    lastFrame: "end_image",
    images: "reference_images",
    video: "reference_video",
    sound: "generate_audio",
    tier: KLING_TIERS,
  }],
  ["kwaivgi/kling-v3", { ...KLING, lastFrame: "end_image", sound: "generate_audio", tier: KLING_TIERS }],
  ["kwaivgi/kling-v2.6", { ...KLING, sound: "generate_audio" }],
  ["kwaivgi/kling-v2.5", { ...KLING, lastFrame: "end_image" }],
  ["kwaivgi/kling-v2.1-master", KLING],
  ["kwaivgi/kling-v2.1", { ...KLING, lastFrame: "end_image", takesRatio: false, tier: KLING_TIERS }],
  ["kwaivgi/kling-v2.0", KLING],
  ["kwaivgi/kling-v1.6-pro", { ...KLING, lastFrame: "end_image", images: "reference_images" }],
  ["kwaivgi/kling-v1.6", { ...KLING, images: "reference_images" }],
  ["minimax/hailuo-02", { ...HAILUO, lastFrame: "last_frame_image", resolutions: ["512p", "768p", "1080p"] }],
  ["minimax/hailuo-2.3", HAILUO],
  ["wan-video/wan-2.5-i2v", { firstFrame: "image", duration: "number", takesSeed: true, resolutions: [] }],
];

/** Returns the input fields of a model, with or without a version. */
export function videoInputsOf(model: string): NamedInputs {
  return MODELS.find(([prefix]) => model.startsWith(prefix))?.[1] ?? COMMON;
}
