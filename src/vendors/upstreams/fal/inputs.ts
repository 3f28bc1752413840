import type { NamedInputs } from "../shared/videos/named_inputs.ts";
import type { VideoMode } from "../../video_mode.ts";
import table from "./endpoints.json" with { type: "json" };

/** Read from the vendor's own client: see `deno task fal-endpoints`. */
const KNOWN = new Map(
  (table as readonly { readonly inputs: NamedInputs; readonly addresses: readonly string[] }[])
    .flatMap(({ inputs, addresses }) => addresses.map((address) => [address, inputs] as const)),
);

/** The fields of most models, for models without a description. */
const COMMON: NamedInputs = {
  firstFrame: "image_url",
  lastFrame: "end_image_url",
  images: "image_urls",
  videos: "video_urls",
  audios: "audio_urls",
  sound: "generate_audio",
  duration: "text",
  takesRatio: true,
  takesSeed: true,
  resolutions: [],
};

const REFERENCES = { images: "reference_image_urls", videos: "reference_video_urls" };

/**
 * Model families that the client does not describe yet, by name prefix. Source: fal, "Model API reference", the input
 * schemas of each.
 */
const FAMILIES: readonly (readonly [prefix: string, inputs: NamedInputs])[] = [
  ["bytedance/seedance-2", COMMON],
  ["fal-ai/bytedance/seedance/", { ...COMMON, ...REFERENCES }],
  ["fal-ai/kling-video/", { ...COMMON, firstFrame: "start_image_url" }],
  ["fal-ai/veo", { ...COMMON, duration: "text_with_unit" }],
  ["xai/grok-imagine-video", { ...COMMON, ...REFERENCES, duration: "number" }],
];

/** The path suffixes of a model by video mode, preferred first. */
const PATH_SUFFIXES: Readonly<Record<VideoMode, readonly string[]>> = {
  text2video: ["/text-to-video", ""],
  img2video: ["/image-to-video", ""],
  img2video_end: ["/first-last-frame-to-video", "/image-to-video", "/transition", ""],
  imgref2video: ["/reference-to-video", ""],
  mixref2video: ["/reference-to-video", ""],
};

/** A model's path on fal and its input fields. */
export interface FalEndpoint {
  /** Below the base URL, without a leading slash. */
  readonly path: string;
  readonly inputs: NamedInputs;
}

/**
 * Returns the endpoint for a video mode. A model name has no path suffix; the mode decides it. A whole path is used as
 * it is, so that an unknown `someone/anything/image-to-video` can be served.
 *
 * @param model The vendor's name of the model.
 * @returns Null if the model does not support the mode.
 */
export function endpointFor(model: string, mode: VideoMode): FalEndpoint | null {
  if (isFullPath(model)) return { path: model, inputs: KNOWN.get(model) ?? familyOf(model) ?? COMMON };
  const known = PATH_SUFFIXES[mode].map((suffix) => model + suffix).find((path) => supportsMode(KNOWN.get(path), mode));
  if (known !== undefined) return { path: known, inputs: KNOWN.get(known)! };
  const isKnown = KNOWN.has(model) || Object.values(PATH_SUFFIXES).flat().some((suffix) => KNOWN.has(model + suffix));
  if (isKnown) return null;
  const inputs = familyOf(model);
  return { path: inputs ? model + PATH_SUFFIXES[mode][0] : model, inputs: inputs ?? COMMON };
}

/** A path that contains a mode is used as it is, whatever the requested mode. */
function isFullPath(model: string): boolean {
  return /-to-video(\/|$)/.test(model);
}

function supportsMode(inputs: NamedInputs | undefined, mode: VideoMode): boolean {
  switch (mode) {
    case "text2video":
      return inputs !== undefined;
    case "img2video":
      return inputs?.firstFrame !== undefined;
    case "img2video_end":
      return inputs?.firstFrame !== undefined && inputs.lastFrame !== undefined;
    case "imgref2video":
      return inputs?.images !== undefined;
    case "mixref2video":
      return inputs?.videos !== undefined || inputs?.audios !== undefined;
  }
}

function familyOf(model: string): NamedInputs | undefined {
  return FAMILIES.find(([prefix]) => model.startsWith(prefix))?.[1];
}
