import type { VideoMode } from "../../../vendors/video_mode.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import {
  VIDEO_RESOLUTIONS,
  type VideoDuration,
  type VideoResolution,
  type VideoSection,
} from "../../../vendors/catalog/sections/media_sections.ts";
import type { Catalog } from "../../../vendors/catalog/catalog.ts";
import { modelNotFound } from "../../../vendors/catalog/model_not_found.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { modeOf } from "../request/mode.ts";
import { checkModelLimits } from "./model_limits.ts";
import type { VideoRequest } from "../request/request.ts";
import type { TaskOrder } from "../tasks/task.ts";

/** A model that generates videos. */
export interface VideoModel extends Model {
  readonly video: VideoSection;
}

/** A request fitted to its model, without media and options. */
export interface FittedOrder {
  readonly mode: VideoMode;
  readonly order: Omit<TaskOrder, "firstFrame" | "lastFrame" | "references" | "options" | "optionsByProvider">;
  /** Resolution that determines the price, also if a size was given. */
  readonly pricedAs: VideoResolution;
  readonly withAudio: boolean;
}

/** Length of the short side in pixels. */
const SHORT_SIDE: Readonly<Record<VideoResolution, number>> = {
  "480p": 480,
  "720p": 720,
  "1K": 1_024,
  "1080p": 1_080,
  "2K": 1_440,
  "4K": 2_160,
};

/**
 * Returns the model of a request. Throws {@linkcode GatewayError} `model_not_found`, or `invalid_request` if it is not
 * a video model.
 */
export function videoModel(catalog: Catalog, name: string): VideoModel {
  const model = catalog.find(name);
  if (model === null) throw modelNotFound(catalog, name, isVideoModel);
  if (!isVideoModel(model)) throw invalidField("model", `"${model.id}" does not generate videos`);
  return model;
}

/**
 * Fits a request to its model: fills in defaults and rejects unsupported values.
 *
 * @throws {GatewayError} `invalid_request` with the supported values. Source: docs/api/videos.md#modes.
 */
export function fitOrder(request: VideoRequest, { id, video }: VideoModel): FittedOrder {
  const media = request.references.map(({ medium }) => medium);
  const mode = modeOf(request.firstFrame !== null, request.lastFrame !== null, media);
  if (!video.modes.includes(mode)) {
    const message = `Cannot make this video: "${id}" does not serve ${mode}; the modes that it does: ${
      video.modes.join(", ")
    }`;
    throw new GatewayError("invalid_request", message, { field: "model" });
  }
  checkModelLimits(request, video, id);
  const pricedAs = resolutionOf(request, video);
  const durationSeconds = durationOf(request, mode, id, video.duration);
  // The field is not sent for a model that always or never has sound.
  const generateAudio = video.audio === "switch" ? request.generateAudio ?? true : null;
  return {
    mode,
    pricedAs,
    withAudio: video.audio === "always" || generateAudio === true,
    order: {
      durationSeconds,
      // Sent together with a size too, so that the vendor cannot generate a larger video than priced.
      resolution: pricedAs,
      aspectRatio: request.aspectRatio,
      size: request.size,
      generateAudio,
      seed: request.seed,
    },
  };
}

/** Returns -1 or null if the vendor decides, see {@linkcode VideoOrder.durationSeconds}. */
function durationOf(
  { durationSeconds, references }: VideoRequest,
  mode: VideoMode,
  id: string,
  { leastSeconds, mostSeconds, onlySeconds, defaultSeconds, isOpen }: VideoDuration,
): number | null {
  if (durationSeconds === null) {
    const followsVideo = mode === "mixref2video" && references.some(({ medium }) => medium === "video");
    return isOpen && followsVideo ? null : defaultSeconds;
  }
  const isWithin = onlySeconds?.includes(durationSeconds) ??
    (durationSeconds >= leastSeconds && durationSeconds <= mostSeconds);
  if (isWithin || (isOpen && durationSeconds === -1)) return durationSeconds;
  const open = isOpen ? ", or -1 to let the provider decide" : "";
  const lengths = onlySeconds ? either(onlySeconds) : `${leastSeconds} to ${mostSeconds}`;
  throw invalidField("duration", `expected ${lengths} seconds for "${id}"${open}`);
}

function either(numbers: readonly number[]): string {
  return [numbers.slice(0, -1).join(", "), numbers.at(-1)].filter((part) => part !== "").join(" or ");
}

function isVideoModel(model: Model): model is VideoModel {
  return model.video !== null;
}

/** A size is priced as the smallest resolution of the model that contains its short side. */
function resolutionOf({ resolution, size }: VideoRequest, video: VideoSection): VideoResolution {
  const offered = VIDEO_RESOLUTIONS.filter((each) => video.resolutions.includes(each));
  if (size) {
    const short = Math.min(size.width, size.height);
    const holding = offered.find((each) => SHORT_SIDE[each] >= short);
    if (holding) return holding;
    const largest = elementAt(offered, offered.length - 1);
    throw invalidField("size", `expected a short side of at most ${SHORT_SIDE[largest]} pixels`);
  }
  const chosen = resolution ?? video.defaultResolution;
  if (!offered.includes(chosen)) {
    throw invalidField("resolution", `expected one of ${offered.join(", ")} for this model`);
  }
  return chosen;
}
