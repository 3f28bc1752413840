import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../../call/outbound_call.ts";
import { shapeOf, type VideoShapes } from "./video_shape.ts";
import type { VideoMedia, VideoOrder } from "../../contract/video_upstream.ts";

/**
 * The names of a model's input fields, for vendors with models of many makers. The model does not support an absent
 * field.
 */
export interface NamedInputs {
  /** The field of the first frame. */
  readonly firstFrame?: string;
  /** The field of the last frame. */
  readonly lastFrame?: string;
  /** The field of a list of images. */
  readonly images?: string;
  readonly videos?: string;
  readonly audios?: string;
  /** The field of a single reference video, for models that accept only one. */
  readonly video?: string;
  /** The boolean field for audio. */
  readonly sound?: string;
  /** The format of a duration: `5`, `"5"` or `"5s"`. A duration that the vendor decides is `-1` or `"auto"`. */
  readonly duration?: "number" | "text" | "text_with_unit";
  readonly takesRatio?: boolean;
  readonly takesSeed?: boolean;
  /** The vendor's values, such as `768P`. If empty, the gateway's values are sent in lower case. */
  readonly resolutions?: readonly string[];
  /**
   * The field for the resolution and its values by the gateway's values, if it has another name, such as `mode: "pro"`.
   */
  readonly tier?: { readonly field: string; readonly values: Readonly<Record<string, string>> };
}

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"];

/**
 * Builds the request body with the field names of the model.
 *
 * @throws {UpstreamFailure} `invalid` for required input that the model does not support.
 */
export function bodyOf(outbound: Outbound, order: VideoOrder, inputs: NamedInputs): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, shapesOf(inputs));
  const { firstFrame, lastFrame, generateAudio } = order;
  const inputField = (field: string | undefined, value: VideoMedia["value"], input: string): JsonObject => {
    if (field !== undefined) return { [field]: value };
    throw outbound.failure("invalid", `"${order.model}" does not support a ${input}`);
  };
  return {
    ...order.options,
    prompt: order.prompt,
    ...(order.durationSeconds !== null && inputs.duration && {
      duration: durationAs(inputs.duration, order.durationSeconds),
    }),
    ...(resolution !== null && resolutionField(inputs, resolution)),
    ...(ratio !== null && ratioOf(outbound, order, inputs, ratio)),
    ...(firstFrame !== null && inputField(inputs.firstFrame, firstFrame.value, "first frame")),
    ...(lastFrame !== null && inputField(inputs.lastFrame, lastFrame.value, "last frame")),
    ...referencesOf(outbound, order, inputs),
    ...(generateAudio !== null && inputs.sound && { [inputs.sound]: generateAudio }),
    ...(order.seed !== null && inputs.takesSeed && { seed: order.seed }),
  };
}

/** Names the fields that are not sent. The model then decides the length, size and audio. */
export function droppedOf(
  { seed, generateAudio, durationSeconds, size }: VideoOrder,
  inputs: NamedInputs,
): string[] {
  return [
    ...(durationSeconds !== null && !inputs.duration ? ["duration"] : []),
    ...(!inputs.resolutions && !inputs.tier ? [size === null ? "resolution" : "size"] : []),
    ...(generateAudio !== null && !inputs.sound ? ["generate_audio"] : []),
    ...(seed !== null && !inputs.takesSeed ? ["seed"] : []),
  ];
}

function resolutionField({ resolutions, tier }: NamedInputs, resolution: string): JsonObject {
  if (tier !== undefined) return { [tier.field]: resolution };
  return resolutions === undefined ? {} : { resolution };
}

/** The first frame decides the ratio if the model has no ratio field. */
function ratioOf(
  outbound: Outbound,
  { model, firstFrame }: VideoOrder,
  inputs: NamedInputs,
  ratio: string,
): JsonObject {
  if (inputs.takesRatio) return { aspect_ratio: ratio };
  if (firstFrame !== null) return {};
  throw outbound.failure("invalid", `"${model}" does not support an aspect ratio`, { field: "aspect_ratio" });
}

function shapesOf({ resolutions, tier }: NamedInputs): VideoShapes {
  const rows = Object.entries({ "480p": 480, "720p": 720, "1080p": 1_080, "2K": 1_440, "4K": 2_160 });
  const row = ([resolution, shortSide]: [string, number]) =>
    [resolution, {
      value: tier?.values[resolution] ?? valueFor(resolution, shortSide, resolutions),
      shortSide,
    }] as const;
  return { resolutions: Object.fromEntries(rows.map(row)), ratios: RATIOS };
}

/** A larger difference counts as another resolution with another price. */
const MAX_ENLARGEMENT = 1.2;

/**
 * Returns the model's value for a resolution, or that of its next larger resolution within the limit: `768P` for 720p.
 */
function valueFor(resolution: string, shortSide: number, values: readonly string[] | undefined): string {
  const same = values?.find((value) => value.toLowerCase() === resolution.toLowerCase());
  const isNear = (value: string) => pixelsOf(value) >= shortSide && pixelsOf(value) <= shortSide * MAX_ENLARGEMENT;
  const larger = values?.filter(isNear).sort((a, b) => pixelsOf(a) - pixelsOf(b))[0];
  return same ?? larger ?? resolution.toLowerCase();
}

/** Returns the pixels of the short side, for `768P` and for `4K`, which names the long side. */
function pixelsOf(value: string): number {
  const number = parseInt(value);
  return /k$/i.test(value) ? number * 540 : number;
}

function durationAs(format: NonNullable<NamedInputs["duration"]>, seconds: number): number | string {
  if (format === "number") return seconds;
  if (seconds < 0) return "auto"; // The vendor decides.
  return format === "text" ? String(seconds) : `${seconds}s`;
}

const LISTS = [["image", "images"], ["video", "videos"], ["audio", "audios"]] as const;

function referencesOf(outbound: Outbound, { model, references }: VideoOrder, inputs: NamedInputs): JsonObject {
  const lists = LISTS.map(([medium, list]) => {
    const values = references.filter((media) => media.medium === medium).map(({ value }) => value);
    if (values.length === 0) return {};
    const field = inputs[list];
    if (field !== undefined) return { [field]: values };
    if (medium === "video" && inputs.video !== undefined && values.length === 1) return { [inputs.video]: values[0] };
    throw outbound.failure("invalid", `"${model}" does not support ${medium} references`, {
      field: "input_references",
    });
  });
  return Object.assign({}, ...lists) as JsonObject;
}
