import type { NamedInputs } from "../named_inputs.ts";
import type { VideoMode } from "../../lib/video_mode.ts";
import table from "./endpoints.json" with { type: "json" };

/** Read from the vendor's own client: see `deno task fal-endpoints`. */
const KNOWN = new Map(
  (table as readonly { readonly inputs: NamedInputs; readonly addresses: readonly string[] }[])
    .flatMap(({ inputs, addresses }) => addresses.map((address) => [address, inputs] as const)),
);

/** What most models have in common, for one that nobody has described. */
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
 * Families that the client does not describe yet, by how the names of their models begin. Source: fal, "Model API
 * reference", the input schemas of each.
 */
const FAMILIES: readonly (readonly [prefix: string, inputs: NamedInputs])[] = [
  ["bytedance/seedance-2", COMMON],
  ["fal-ai/bytedance/seedance/", { ...COMMON, ...REFERENCES }],
  ["fal-ai/kling-video/", { ...COMMON, firstFrame: "start_image_url" }],
  ["fal-ai/veo", { ...COMMON, duration: "text_with_unit" }],
  ["xai/grok-imagine-video", { ...COMMON, ...REFERENCES, duration: "number" }],
];

/** What stands behind a model's name to make a video in a mode, the better one first. */
const VERBS: Readonly<Record<VideoMode, readonly string[]>> = {
  text2video: ["/text-to-video", ""],
  img2video: ["/image-to-video", ""],
  img2video_end: ["/first-last-frame-to-video", "/image-to-video", "/transition", ""],
  imgref2video: ["/reference-to-video", ""],
  mixref2video: ["/reference-to-video", ""],
};

/** A model's address on fal, and the names of its inputs there. */
export interface FalEndpoint {
  /** Below the base address, without a slash before it. */
  readonly path: string;
  readonly inputs: NamedInputs;
}

/**
 * Where a model makes a video in this mode. A model is named without its verb, which the mode gives, or is an address
 * by itself, so that `someone/anything/image-to-video` can be served without knowing it.
 *
 * @param model The vendor's name of the model.
 * @returns Null when the model does not make this mode.
 */
export function endpointFor(model: string, mode: VideoMode): FalEndpoint | null {
  if (isWhole(model)) return { path: model, inputs: KNOWN.get(model) ?? familyOf(model) ?? COMMON };
  const known = VERBS[mode].map((verb) => model + verb).find((path) => makes(KNOWN.get(path), mode));
  if (known !== undefined) return { path: known, inputs: KNOWN.get(known)! };
  const isKnown = KNOWN.has(model) || Object.values(VERBS).flat().some((verb) => KNOWN.has(model + verb));
  if (isKnown) return null;
  const inputs = familyOf(model);
  return { path: inputs ? model + VERBS[mode][0] : model, inputs: inputs ?? COMMON };
}

/** An address that names its verb makes what its name says, whatever the mode. */
function isWhole(model: string): boolean {
  return /-to-video(\/|$)/.test(model);
}

function makes(inputs: NamedInputs | undefined, mode: VideoMode): boolean {
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
