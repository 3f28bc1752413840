import * as z from "zod";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { section, setting } from "../../../platform/lib/settings/setting.ts";
import { boolean, distinct, wholeNumber } from "../../../platform/lib/settings/settings.ts";
import {
  DEFAULT_IMAGE_FORMATS,
  DEFAULT_IMAGE_QUALITIES,
  IMAGE_FORMATS,
  IMAGE_QUALITIES,
  IMAGE_SIZES,
  MAX_REFERENCES,
  secondPriceIn,
  VIDEO_RATIOS,
  VIDEO_RESOLUTIONS,
  type VideoDuration,
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
const DEFAULT_SECONDS = 5;
const length = () => wholeNumber(1, 3600, "seconds");

/** A model's `image` section. */
export function imageSection() {
  return section({
    series: setting(z.enum(["default", "multimodal", "reference"]), {
      default: "default",
      text: "The kind of image model: [series](api/images.md#series)",
    }),
    edits: setting(boolean(), { default: false, text: "Whether it edits images" }),
    input_fidelity: setting(distinct<string>(z.enum(["low", "high"]), 0), {
      default: [],
      text: "Values of `input_fidelity` for edits",
      example: ["low", "high"],
    }),
    sizes: setting(distinct<string>(z.enum(IMAGE_SIZES), 1), {
      default: [...IMAGE_SIZES],
      text: "Sizes that callers may request",
      example: ["auto", "1024x1024"],
    }),
    qualities: setting(distinct<string>(z.enum(IMAGE_QUALITIES), 1), {
      default: [...DEFAULT_IMAGE_QUALITIES],
      text: "Qualities that callers may request",
      example: ["low", "high"],
    }),
    output_formats: setting(distinct<string>(z.enum(IMAGE_FORMATS), 1), {
      default: [...DEFAULT_IMAGE_FORMATS],
      text: "File types that the vendor makes",
      example: ["png", "jpeg", "webp", "gif"],
    }),
    svg_author: setting(z.string().min(1).nullable().default(null), {
      text: "The model that writes an SVG drawing if the caller names none; its price is reserved",
      example: "openai/gpt-6.2-sol",
      otherwise: "callers name one",
    }),
    size_map: setting(z.partialRecord(z.enum(IMAGE_SIZES), z.string(SIZE_EXPECTATION).regex(SIZE, SIZE_EXPECTATION)), {
      default: {},
      text: "Sizes that are sent to the vendor in place of requested ones",
      example: { "1792x1024": "1536x1024" },
    }),
    quality_map: setting(z.partialRecord(z.enum(IMAGE_QUALITIES), z.string().regex(WORD, "a word")), {
      default: {},
      text: "Qualities that are sent in place of requested ones",
      example: { hd: "high" },
    }),
  }).refine((image) => !(image.edits && image.series === "multimodal"), {
    path: ["edits"],
    error: "false for the multimodal series",
  });
}

/** The `image` section as it was read. */
export type ImageSection = z.output<ReturnType<typeof imageSection>>;

/** A model's `video` section. `price` is the schema of a decimal USD amount. */
export function videoSection(price: z.ZodType<string>): z.ZodType<VideoSection> {
  const modes = z.enum(["text2video", "img2video", "img2video_end", "imgref2video", "mixref2video"]);
  return section({
    modes: setting(distinct(modes, 1), {
      text: "What videos are made from: [modes](api/videos.md#modes)",
      example: ["text2video", "img2video"],
    }),
    price_per_second: setting(z.record(priceKey, price), {
      text: "The price of a second, by resolution and sound: [videos](#videos)",
      example: { "720p": "0.10", "1080p": "0.30" },
    }),
    resolutions: setting(distinct(resolution, 1).optional(), {
      text: "Resolutions that callers may request",
      example: ["720p"],
      otherwise: "those with a price",
    }),
    default_resolution: setting(resolution.optional(), {
      text: "The resolution of a request without one",
      otherwise: "`720p`, else the smallest",
    }),
    aspect_ratios: setting(distinct(z.enum(VIDEO_RATIOS), 1), {
      default: [...VIDEO_RATIOS],
      text: "Aspect ratios that callers may request",
      example: ["16:9", "9:16"],
    }),
    references: section({
      image: references("images", MAX_REFERENCES.image, 1),
      audio: references("sounds", MAX_REFERENCES.audio, 0),
      video: references("videos", MAX_REFERENCES.video, 0),
    }).prefault({}),
    duration: durationSection().prefault({}),
    audio: setting(z.enum(["never", "always", "switch"]), {
      default: "never",
      text: "Whether videos have sound: `switch` leaves it to `generate_audio`",
    }),
  }).superRefine(refuseUnpriced).transform(videoOf);
}

function references(of: string, most: number, example: number) {
  return setting(wholeNumber(0, most, "references"), { default: most, text: `The most reference ${of}`, example });
}

function durationSection() {
  return section({
    min: setting(length().optional(), { text: "The shortest video", example: 4, otherwise: "1" }),
    max: setting(length().optional(), { text: "The longest video", example: 12, otherwise: "60" }),
    only: setting(distinct(length(), 1).optional(), {
      text: "The only possible lengths, in place of `min` and `max`",
      example: [4, 6, 8],
      unit: "seconds",
      otherwise: "every length from `min` to `max`",
    }),
    default: setting(length().optional(), {
      text: "The length of a request without one",
      example: 8,
      otherwise: "5, or the next longer one",
    }),
    auto: setting(boolean(), { default: false, text: "Whether the vendor may choose the length" }),
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

/** A video section without the defaults of what depends on its prices. */
type WrittenVideo =
  & Omit<VideoSection, "resolutions" | "defaultResolution">
  & { readonly resolutions?: readonly VideoResolution[] | undefined }
  & { readonly defaultResolution?: VideoResolution | undefined };

function videoOf(video: WrittenVideo): VideoSection {
  const resolutions = resolutionsOf(video);
  const usual = resolutions.includes("720p") ? "720p" : elementAt(resolutions, 0);
  return { ...video, resolutions, defaultResolution: video.defaultResolution ?? usual };
}

function resolutionsOf({ resolutions, pricePerSecond }: WrittenVideo): readonly VideoResolution[] {
  if (resolutions) return resolutions;
  const named = new Set(Object.keys(pricePerSecond).map((key) => key.split("_")[0]));
  const priced = VIDEO_RESOLUTIONS.filter((each) => named.has(each));
  return priced.length > 0 ? priced : VIDEO_RESOLUTIONS;
}

/** A video without a price would be free. */
function refuseUnpriced(video: WrittenVideo, context: z.RefinementCtx): void {
  const resolutions = resolutionsOf(video);
  for (const each of resolutions) {
    for (const sound of SOUNDS[video.audio]) {
      if (secondPriceIn(video.pricePerSecond, each, sound) !== null) continue;
      const message = `a price for ${each}_${sound}, ${each} or default`;
      context.addIssue({ code: "custom", path: ["price_per_second"], message });
      return;
    }
  }
  const chosen = video.defaultResolution;
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
