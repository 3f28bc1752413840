import type { VideoOrderMode } from "../video_upstream.ts";

/** How a model of fal names its inputs. */
export interface FalInputs {
  /** The path below the model's own, by mode; a mode without one is not made. */
  readonly paths: Readonly<Partial<Record<VideoOrderMode, string>>>;
  readonly firstFrame: string;
  readonly lastFrame: string;
  /** What the first frame is called where a last one stands beside it. Default: as without. */
  readonly firstOfTwo?: string;
  /** Lists of references. */
  readonly images: string;
  readonly videos: string;
  readonly audios: string;
  readonly sound: string;
  /** A duration as `5`, as `"5"` or as `"5s"`. */
  readonly duration: "number" | "text" | "text_with_unit";
  /** By our word of the resolution, where the model's is not the same in small letters. */
  readonly resolutions: Readonly<Record<string, string>>;
}

const BY_VERB: FalInputs["paths"] = {
  text2video: "/text-to-video",
  img2video: "/image-to-video",
  img2video_end: "/image-to-video",
  imgref2video: "/reference-to-video",
  mixref2video: "/reference-to-video",
};

const FRAMES_ALONE: FalInputs["paths"] = {
  text2video: "/text-to-video",
  img2video: "/image-to-video",
  img2video_end: "/image-to-video",
};

/** What most models have in common. */
const COMMON: FalInputs = {
  paths: BY_VERB,
  firstFrame: "image_url",
  lastFrame: "end_image_url",
  images: "image_urls",
  videos: "video_urls",
  audios: "audio_urls",
  sound: "generate_audio",
  duration: "text",
  resolutions: {},
};

const REFERENCES = { images: "reference_image_urls", videos: "reference_video_urls" };

/**
 * Families of models whose paths go by verb, by how their names begin; the first that fits counts. Source: fal, "Model
 * API reference", the input schemas of each.
 */
const FAMILIES: readonly (readonly [prefix: string, inputs: FalInputs])[] = [
  ["bytedance/seedance-2", COMMON],
  ["fal-ai/bytedance/seedance/", { ...COMMON, ...REFERENCES }],
  ["fal-ai/kling-video/o3/", COMMON],
  ["fal-ai/kling-video/v2.5-turbo/", { ...COMMON, paths: FRAMES_ALONE, lastFrame: "tail_image_url" }],
  ["fal-ai/kling-video/v2.6/", { ...COMMON, paths: FRAMES_ALONE, firstFrame: "start_image_url" }],
  ["fal-ai/kling-video/v3/", { ...COMMON, paths: FRAMES_ALONE, firstFrame: "start_image_url" }],
  ["fal-ai/veo3", {
    ...COMMON,
    paths: { ...BY_VERB, text2video: "", img2video_end: "/first-last-frame-to-video", mixref2video: undefined },
    lastFrame: "last_frame_url",
    firstOfTwo: "first_frame_url",
    duration: "text_with_unit",
  }],
  ["fal-ai/minimax/hailuo-", {
    ...COMMON,
    paths: FRAMES_ALONE,
    resolutions: { "480p": "512P", "720p": "768P", "1080p": "1080P" },
  }],
  ["fal-ai/wan/v2.7", { ...COMMON, ...REFERENCES }],
  ["wan/v2.6", { ...COMMON, paths: { text2video: "/text-to-video", img2video: "/image-to-video" } }],
  ["xai/grok-imagine-video", { ...COMMON, ...REFERENCES, duration: "number" }],
  ["fal-ai/pixverse/v6", { ...COMMON, paths: FRAMES_ALONE, sound: "generate_audio_switch", duration: "number" }],
  ["fal-ai/vidu/q3", { ...COMMON, paths: FRAMES_ALONE, sound: "audio", duration: "number" }],
];

/** A model's address on fal, and the names of its inputs there. */
export interface FalEndpoint {
  /** Below the base address, without a slash before it. */
  readonly path: string;
  readonly inputs: FalInputs;
}

/**
 * Where a model makes a video in this mode. A model of a known family is named without its verb, which the mode gives;
 * every other is an address by itself, so that `fal-ai/anything/image-to-video` can be served without knowing it.
 *
 * @param model The vendor's name of the model.
 * @returns Null when the model does not make this mode.
 */
export function endpointFor(model: string, mode: VideoOrderMode): FalEndpoint | null {
  const family = FAMILIES.find(([prefix]) => model.startsWith(prefix))?.[1];
  const isWhole = family === undefined || /-to-video(\/|$)/.test(model);
  const verb = isWhole ? "" : family.paths[mode];
  if (verb === undefined) return null;
  return { path: model + verb, inputs: family ?? COMMON };
}
