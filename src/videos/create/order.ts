import type { VideoMode } from "../../lib/video_mode.ts";
import type { Model } from "../../catalog/model.ts";
import {
  VIDEO_RESOLUTIONS,
  type VideoDuration,
  type VideoResolution,
  type VideoSection,
} from "../../catalog/media_sections.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { modelNotFound } from "../../catalog/model_not_found.ts";
import { elementAt } from "../../lib/element_at.ts";
import { GatewayError, invalidField } from "../../lib/gateway_error.ts";
import { modeOf } from "../request/mode.ts";
import { checkModelLimits } from "./model_limits.ts";
import type { VideoRequest } from "../request/request.ts";
import type { TaskOrder } from "../tasks/task.ts";

/** A model that makes videos. */
export interface VideoModel extends Model {
  readonly video: VideoSection;
}

/** What the model will make of a request; media and options are missing still. */
export interface FittedOrder {
  readonly mode: VideoMode;
  readonly order: Omit<TaskOrder, "firstFrame" | "lastFrame" | "references" | "options" | "optionsByProvider">;
  /** What it is priced as, also where a size was given. */
  readonly pricedAs: VideoResolution;
  readonly withAudio: boolean;
}

/** Pixels of the short side. */
const SHORT_SIDE: Readonly<Record<VideoResolution, number>> = {
  "480p": 480,
  "720p": 720,
  "1K": 1_024,
  "1080p": 1_080,
  "2K": 1_440,
  "4K": 2_160,
};

/**
 * The model of a request. Throws {@linkcode GatewayError} `model_not_found`, or `invalid_request` for one of another
 * kind.
 */
export function videoModel(catalog: Catalog, name: string): VideoModel {
  const model = catalog.find(name);
  if (model === null) throw modelNotFound(catalog, name, isVideoModel);
  if (!isVideoModel(model)) throw invalidField("model", `"${model.id}" does not make videos`);
  return model;
}

/**
 * Fits a request to its model: defaults filled in, and what the model does not do refused.
 *
 * @throws {GatewayError} `invalid_request`, naming what the model does. Source: docs/api/videos.md#modes.
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
  // A model without a choice is not asked: never and always say nothing, so that the vendor's one way holds.
  const generateAudio = video.audio === "switch" ? request.generateAudio ?? true : null;
  return {
    mode,
    pricedAs,
    withAudio: video.audio === "always" || generateAudio === true,
    order: {
      durationSeconds,
      // Also beside a size: a vendor must not make it larger than it is priced as.
      resolution: pricedAs,
      aspectRatio: request.aspectRatio,
      size: request.size,
      generateAudio,
      seed: request.seed,
    },
  };
}

/** -1 or null where the vendor decides, see {@linkcode VideoOrder.durationSeconds}. */
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
  const open = isOpen ? ", or -1 to leave it to the provider" : "";
  const lengths = onlySeconds ? either(onlySeconds) : `${leastSeconds} to ${mostSeconds}`;
  throw invalidField("duration", `expected ${lengths} seconds for "${id}"${open}`);
}

function either(numbers: readonly number[]): string {
  return [numbers.slice(0, -1).join(", "), numbers.at(-1)].filter((part) => part !== "").join(" or ");
}

function isVideoModel(model: Model): model is VideoModel {
  return model.video !== null;
}

/** A size is priced as the smallest resolution of the model that holds its short side. */
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
