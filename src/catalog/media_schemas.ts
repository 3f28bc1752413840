import * as z from "zod";
import { elementAt } from "../lib/element_at.ts";
import { boolean, distinct, wholeNumber } from "../lib/settings.ts";
import type { VideoMode } from "../lib/video_mode.ts";
import {
  DEFAULT_IMAGE_FORMATS,
  DEFAULT_IMAGE_QUALITIES,
  IMAGE_FORMATS,
  IMAGE_QUALITIES,
  IMAGE_SIZES,
  type ImageSection,
  MAX_REFERENCES,
  secondPriceIn,
  type SecondPrices,
  VIDEO_RATIOS,
  VIDEO_RESOLUTIONS,
  type VideoDuration,
  type VideoReferenceLimits,
  type VideoResolution,
  type VideoSection,
} from "./media_sections.ts";

const SOUNDS = { never: ["silent"], always: ["audio"], switch: ["audio", "silent"] } as const;

const PRICE_KEY_EXPECTATION = `a resolution (${
  VIDEO_RESOLUTIONS.join(", ")
}) or default, with the suffix _audio or _silent`;
/** The schema of a key of `price_per_second`. */
export const priceKey: z.ZodType<string, string> = z.string().regex(
  /^(480p|720p|1080p|1K|2K|4K|default)(_audio|_silent)?$/,
  PRICE_KEY_EXPECTATION,
);
const SIZE = /^(auto|[1-9]\d{1,4}x[1-9]\d{1,4})$/;
const SIZE_EXPECTATION = "auto, or width and height in pixels, such as 1536x1024";
const WORD = /^[a-z0-9_-]{1,32}$/;
const resolution = z.enum(VIDEO_RESOLUTIONS);
const referenceCount = (most: number) => wholeNumber(0, most, "references").default(most);
const DEFAULT_SECONDS = 5;
const length = () => wholeNumber(1, 3600, "seconds");

/** The schema of a model's `image` section. */
export function imageSection(): z.ZodType<ImageSection> {
  return z.strictObject({
    series: z.enum(["default", "multimodal", "reference"]).default("default"),
    edits: boolean().default(false),
    input_fidelity: distinct(z.enum(["low", "high"]), 0).default([]),
    sizes: distinct(z.enum(IMAGE_SIZES), 1).default([...IMAGE_SIZES]),
    qualities: distinct(z.enum(IMAGE_QUALITIES), 1).default([...DEFAULT_IMAGE_QUALITIES]),
    output_formats: distinct(z.enum(IMAGE_FORMATS), 1).default([...DEFAULT_IMAGE_FORMATS]),
    svg_author: z.string().min(1).nullable().default(null),
    size_map: z.partialRecord(z.enum(IMAGE_SIZES), z.string(SIZE_EXPECTATION).regex(SIZE, SIZE_EXPECTATION)).default(
      {},
    ),
    quality_map: z.partialRecord(z.enum(IMAGE_QUALITIES), z.string().regex(WORD, "a word")).default({}),
  }).refine((image) => !(image.edits && image.series === "multimodal"), {
    path: ["edits"],
    error: "false for the multimodal series",
  }).transform(({ series, edits, sizes, qualities, ...image }) => ({
    series,
    edits,
    inputFidelity: image.input_fidelity,
    sizes,
    qualities,
    outputFormats: image.output_formats,
    svgAuthor: image.svg_author,
    sizeMap: image.size_map,
    qualityMap: image.quality_map,
  }));
}

/** The schema of a model's `video` section. `price` is the schema of a decimal USD amount. */
export function videoSection(price: z.ZodType<string>): z.ZodType<VideoSection> {
  const modes = z.enum(["text2video", "img2video", "img2video_end", "imgref2video", "mixref2video"]);
  return z.strictObject({
    modes: distinct(modes, 1),
    price_per_second: z.record(priceKey, price),
    resolutions: distinct(resolution, 1).optional(),
    default_resolution: resolution.optional(),
    aspect_ratios: distinct(z.enum(VIDEO_RATIOS), 1).default([...VIDEO_RATIOS]),
    references: z.strictObject({
      image: referenceCount(MAX_REFERENCES.image),
      audio: referenceCount(MAX_REFERENCES.audio),
      video: referenceCount(MAX_REFERENCES.video),
    }).prefault({}),
    duration: durationSection().prefault({}),
    audio: z.enum(["never", "always", "switch"]).default("never"),
  }).superRefine(refuseUnpriced).transform(videoOf);
}

function durationSection() {
  return z.strictObject({
    min: length().optional(),
    max: length().optional(),
    only: distinct(length(), 1).optional(),
    default: length().optional(),
    auto: boolean().default(false),
  })
    .refine(({ min, max, only }) => !only || (min === undefined && max === undefined), {
      path: ["only"],
      error: "a list without duration.min and duration.max",
    })
    .transform(({ min = 1, max = 60, only, ...span }) => {
      const sorted = only?.toSorted((a, b) => a - b) ?? null;
      return { ...span, min: sorted?.[0] ?? min, max: sorted?.at(-1) ?? max, only: sorted };
    })
    .refine(({ min, max }) => min <= max, { path: ["min"], error: "at most duration.max" })
    .refine((span) => span.default === undefined || isLengthOf(span, span.default), {
      path: ["default"],
      error: "between duration.min and duration.max, or one of duration.only",
    })
    .transform(durationOf);
}

interface Span {
  readonly min: number;
  readonly max: number;
  readonly only: readonly number[] | null;
}

function isLengthOf({ min, max, only }: Span, seconds: number): boolean {
  return only ? only.includes(seconds) : seconds >= min && seconds <= max;
}

interface WrittenVideo {
  modes: VideoMode[];
  price_per_second: SecondPrices;
  resolutions?: VideoResolution[] | undefined;
  default_resolution?: VideoResolution | undefined;
  aspect_ratios: string[];
  references: VideoReferenceLimits;
  duration: VideoDuration;
  audio: VideoSection["audio"];
}

function videoOf(video: WrittenVideo): VideoSection {
  const resolutions = resolutionsOf(video);
  return {
    modes: video.modes,
    pricePerSecond: video.price_per_second,
    resolutions,
    defaultResolution: video.default_resolution ?? (resolutions.includes("720p") ? "720p" : elementAt(resolutions, 0)),
    aspectRatios: video.aspect_ratios,
    references: video.references,
    duration: video.duration,
    audio: video.audio,
  };
}

function resolutionsOf({ resolutions, price_per_second }: WrittenVideo): readonly VideoResolution[] {
  if (resolutions) return resolutions;
  const named = new Set(Object.keys(price_per_second).map((key) => key.split("_")[0]));
  const priced = VIDEO_RESOLUTIONS.filter((each) => named.has(each));
  return priced.length > 0 ? priced : VIDEO_RESOLUTIONS;
}

/** A video without a price would be free. */
function refuseUnpriced(video: WrittenVideo, context: z.RefinementCtx): void {
  const resolutions = resolutionsOf(video);
  for (const each of resolutions) {
    for (const sound of SOUNDS[video.audio]) {
      if (secondPriceIn(video.price_per_second, each, sound) !== null) continue;
      const message = `a price for ${each}_${sound}, ${each} or default`;
      context.addIssue({ code: "custom", path: ["price_per_second"], message });
      return;
    }
  }
  const chosen = video.default_resolution;
  if (!chosen || resolutions.includes(chosen)) return;
  const message = `one of ${resolutions.join(", ")}`;
  context.addIssue({ code: "custom", path: ["default_resolution"], message });
}

function durationOf(span: Span & { default?: number | undefined; auto: boolean }): VideoDuration {
  const { min, max, only } = span;
  const usual = Math.min(Math.max(DEFAULT_SECONDS, min), max);
  return {
    leastSeconds: min,
    mostSeconds: max,
    onlySeconds: only,
    defaultSeconds: span.default ?? only?.find((seconds) => seconds >= usual) ?? usual,
    isOpen: span.auto,
  };
}
