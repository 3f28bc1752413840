import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { VideoMode } from "../../video_mode.ts";

/** All image sizes. Source: docs/api/images.md#generations. */
export const IMAGE_SIZES = [
  "auto",
  "1024x1024",
  "1536x1024",
  "1024x1536",
  "256x256",
  "512x512",
  "1792x1024",
  "1024x1792",
] as const;

/** All image qualities. Source: docs/api/images.md#generations. */
export const IMAGE_QUALITIES = ["auto", "low", "medium", "high", "xhigh", "max", "standard", "hd"] as const;

/** The qualities of a model that states none: those of all models. Later models have `xhigh` and `max`, too. */
export const DEFAULT_IMAGE_QUALITIES = IMAGE_QUALITIES.filter((quality) => quality !== "xhigh" && quality !== "max");

/** All file types of images. Source: docs/api/images.md#generations. */
export const IMAGE_FORMATS = ["png", "jpeg", "webp", "gif", "svg"] as const;

/** The file types of a model that states none: animations and drawings are made by few models. */
export const DEFAULT_IMAGE_FORMATS = IMAGE_FORMATS.filter((format) => format !== "gif" && format !== "svg");

/** A video resolution. Source: docs/api/videos.md#create. */
export type VideoResolution = typeof VIDEO_RESOLUTIONS[number];

/** Every {@linkcode VideoResolution}, smallest first. */
export const VIDEO_RESOLUTIONS = ["480p", "720p", "1K", "1080p", "2K", "4K"] as const;

/** All aspect ratios, `<width>:<height>`. Source: docs/api/videos.md#create. */
export const VIDEO_RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"] as const;

/** The maximum number of references by kind. Source: docs/api/limits.md#videos. */
export const MAX_REFERENCES: VideoReferenceLimits = { image: 9, audio: 3, video: 1 };

/** The maximum number of references of a model, by kind. */
export interface VideoReferenceLimits {
  readonly image: number;
  readonly audio: number;
  readonly video: number;
}

/** The properties of a video model. */
export interface VideoSection {
  /** At least one. */
  readonly modes: readonly VideoMode[];
  /**
   * The price of one second in decimal USD, by resolution or `default`, with the suffix `_audio` or `_silent` where
   * sound makes a difference: `1080p_audio`.
   */
  readonly pricePerSecond: Readonly<Record<string, string>>;
  /** The resolutions that a caller may request. Default: the priced ones, or all if only `default` is priced. */
  readonly resolutions: readonly VideoResolution[];
  /** Used if the caller names none. Default: 720p if the model has it, else its smallest. */
  readonly defaultResolution: VideoResolution;
  /** The {@linkcode VIDEO_RATIOS} that the vendor supports. Default: all. */
  readonly aspectRatios: readonly string[];
  /** The limits of `input_references` by kind. Default: {@linkcode MAX_REFERENCES}. */
  readonly references: VideoReferenceLimits;
  /** The possible lengths of a video. */
  readonly duration: VideoDuration;
  /** Whether videos have sound: never, always, or as `generate_audio` requests. Default: `never`. */
  readonly audio: "never" | "always" | "switch";
}

/** The possible lengths of a video. */
export interface VideoDuration {
  /** Seconds. Default: 1. */
  readonly leastSeconds: number;
  /** Seconds. Default: 60. */
  readonly mostSeconds: number;
  /**
   * The only possible lengths in seconds, shortest first. Default: null, for every whole number from the minimum to the
   * maximum.
   */
  readonly onlySeconds: readonly number[] | null;
  /** In seconds, used if the caller names none. Default: 5, or the next longer possible length. */
  readonly defaultSeconds: number;
  /**
   * Whether the vendor may choose the length up to the maximum: by `duration: -1`, or without a duration if a video is
   * to be continued. Default: false.
   */
  readonly isOpen: boolean;
}

/** Prices of one second in decimal USD, as in {@linkcode VideoSection.pricePerSecond}. */
export type SecondPrices = Readonly<Record<string, string>>;

/**
 * The price of one second in decimal USD: that of the resolution with this sound, else of the resolution, else the
 * default with this sound, else the default. Null if none is set, which cannot happen for a validated model with one of
 * its own resolutions and sounds.
 */
export function pricePerSecondOf(video: VideoSection, resolution: VideoResolution, withAudio: boolean): string | null {
  return secondPriceIn(video.pricePerSecond, resolution, withAudio ? "audio" : "silent");
}

/** The price of one second with that resolution and sound; null if none is set. */
export function secondPriceIn(prices: SecondPrices, resolution: string, sound: "audio" | "silent"): string | null {
  for (const key of [`${resolution}_${sound}`, resolution, `default_${sound}`, "default"]) {
    const price = ownValue(prices, key);
    if (price !== undefined) return price;
  }
  return null;
}
