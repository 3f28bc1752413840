import type { JsonObject } from "../../lib/json_object.ts";
import type { Outbound } from "../outbound.ts";
import { shapeOf, type VideoShapes } from "../video_shape.ts";
import type { RefusedOptions, VideoOrder } from "../video_upstream.ts";
import { endpointFor, type FalInputs } from "./inputs.ts";

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"];

/** What models price beside their length. Source: fal, "Model API reference", the input schemas and prices of each. */
const UNPRICED = "it changes what the video costs, which the model's price does not tell";
const MEDIA = 'it is what the video is made from; use "frame_images" or "input_references"';

/** What no caller may set. `num_frames` overrides `duration`; a length is also that of a video or sound to follow. */
export const REFUSED_OPTIONS: RefusedOptions = {
  ...refusals(UNPRICED, [
    ...["acceleration", "priority", "draft", "draftmode", "interpolatormodel", "adjustfpsforinterpolation"],
    ...["loras", "voiceids", "voicelist", "endframenum", "startframenum", "extend", "extendduration", "autoduration"],
  ]),
  ...refusals(MEDIA, [
    ...["image", "imageurl", "imageurls", "images", "startimageurl", "endimageurl", "tailimageurl", "firstframeurl"],
    ...["lastframeurl", "firstimageurl", "lastimageurl", "referenceimageurl", "referenceimageurls", "referenceimages"],
    ...["subjectreferenceimageurl", "video", "videourl", "videourls", "referencevideourl", "referencevideourls"],
    ...["audiourl", "audiourls", "referenceaudiourl", "referenceaudiourls", "maskurl", "maskimageurl", "keyframes"],
  ]),
};

function refusals(why: string, names: readonly string[]): RefusedOptions {
  return Object.fromEntries(names.map((name) => [name, why]));
}

/**
 * The body that makes a video, in the words of the model.
 *
 * @throws {UpstreamFailure} `invalid` for what the model does not take and cannot do without.
 */
export function bodyOf(outbound: Outbound, order: VideoOrder, inputs: FalInputs): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, shapesOf(inputs));
  const { firstFrame, lastFrame, generateAudio } = order;
  const place = (field: string | undefined, value: string, what: string): JsonObject => {
    if (field !== undefined) return { [field]: value };
    throw outbound.failure("invalid", `"${order.model}" takes no ${what}`);
  };
  return {
    ...order.options,
    prompt: order.prompt,
    ...(order.durationSeconds !== null && inputs.duration && {
      duration: durationAs(inputs.duration, order.durationSeconds),
    }),
    ...(resolution !== null && inputs.resolutions && { resolution }),
    ...(ratio !== null && ratioOf(outbound, order, inputs, ratio)),
    ...(firstFrame !== null && place(inputs.firstFrame, firstFrame.value, "first frame")),
    ...(lastFrame !== null && place(inputs.lastFrame, lastFrame.value, "last frame")),
    ...referencesOf(outbound, order, inputs),
    ...(generateAudio !== null && inputs.sound && { [inputs.sound]: generateAudio }),
    ...(order.seed !== null && inputs.takesSeed && { seed: order.seed }),
  };
}

/** Names what the body cannot hold. Sound is there or not, as the model has it. */
export function droppedOf({ model, mode, seed, generateAudio, durationSeconds }: VideoOrder): string[] {
  const inputs = endpointFor(model, mode)?.inputs;
  if (inputs === undefined) return [];
  return [
    ...(durationSeconds !== null && !inputs.duration ? ["duration"] : []),
    ...(generateAudio !== null && !inputs.sound ? ["generate_audio"] : []),
    ...(seed !== null && !inputs.takesSeed ? ["seed"] : []),
  ];
}

/** A frame decides the ratio where the model takes none beside it. */
function ratioOf(outbound: Outbound, { model, firstFrame }: VideoOrder, inputs: FalInputs, ratio: string): JsonObject {
  if (inputs.takesRatio) return { aspect_ratio: ratio };
  if (firstFrame !== null) return {};
  throw outbound.failure("invalid", `"${model}" takes no aspect ratio`, { field: "aspect_ratio" });
}

function shapesOf({ resolutions }: FalInputs): VideoShapes {
  const rows = Object.entries({ "480p": 480, "720p": 720, "1080p": 1_080, "2K": 1_440, "4K": 2_160 });
  const row = ([ours, shortSide]: [string, number]) =>
    [ours, { word: wordFor(ours, shortSide, resolutions), shortSide }] as const;
  return { resolutions: Object.fromEntries(rows.map(row)), ratios: RATIOS };
}

/** The model's own word, else that of its next larger resolution: `768P` for 720p. */
function wordFor(ours: string, shortSide: number, words: readonly string[] | undefined): string {
  const same = words?.find((word) => word.toLowerCase() === ours.toLowerCase());
  const larger = words?.filter((word) => pixelsOf(word) >= shortSide).sort((a, b) => pixelsOf(a) - pixelsOf(b))[0];
  return same ?? larger ?? ours.toLowerCase();
}

/** Of the short side: of `768P`, or of `4K`, which names the long one. */
function pixelsOf(word: string): number {
  const number = parseInt(word);
  return /k$/i.test(word) ? number * 540 : number;
}

function durationAs(form: NonNullable<FalInputs["duration"]>, seconds: number): number | string {
  if (form === "number") return seconds;
  return form === "text" ? String(seconds) : `${seconds}s`;
}

const LISTS = [["image", "images"], ["video", "videos"], ["audio", "audios"]] as const;

function referencesOf(outbound: Outbound, { model, references }: VideoOrder, inputs: FalInputs): JsonObject {
  const lists = LISTS.map(([medium, list]) => {
    const values = references.filter((media) => media.medium === medium).map(({ value }) => value);
    if (values.length === 0) return {};
    const field = inputs[list];
    if (field !== undefined) return { [field]: values };
    throw outbound.failure("invalid", `"${model}" takes no ${medium} references`, { field: "input_references" });
  });
  return Object.assign({}, ...lists) as JsonObject;
}
