import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type { VideoMode } from "../../video_mode.ts";
import type { VideoMedia, VideoOrder } from "../contract/video_upstream.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/**
 * The video request in the three dialects of Wan. Source: Model Studio API reference, "Wan text to video", "image to
 * video", "keyframes to video", "reference to video"; the client `@ai-sdk/alibaba`.
 */

/** The dialect of a model, from its name: `wan3`, `wan2.7`, or an earlier version. */
type Dialect = "wan3" | "wan2.7" | "older";

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "480P", shortSide: 480 },
    "720p": { value: "720P", shortSide: 720 },
    "1080p": { value: "1080P", shortSide: 1_080 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4"],
};

/** The size in pixels by resolution and ratio, for models without a ratio field. */
const PIXELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "480P": { "16:9": "832*480", "9:16": "480*832", "1:1": "624*624" },
  "720P": { "16:9": "1280*720", "9:16": "720*1280", "1:1": "960*960", "4:3": "1088*832", "3:4": "832*1088" },
  "1080P": { "16:9": "1920*1080", "9:16": "1080*1920", "1:1": "1440*1440", "4:3": "1632*1248", "3:4": "1248*1632" },
};

/** The model name suffix of each mode. Before version 3 each mode has its own model; the catalog names the family. */
const MODEL_SUFFIXES: Readonly<Record<VideoMode, string>> = {
  text2video: "-t2v",
  img2video: "-i2v",
  img2video_end: "-kf2v",
  imgref2video: "-r2v",
  mixref2video: "-r2v",
};

const SYNTHESIS = "/api/v1/services/aigc/video-generation/video-synthesis";
const KEYFRAMES = "/api/v1/services/aigc/image2video/video-synthesis";

/** The path and body of a video request. */
export interface WanRequest {
  readonly path: string;
  readonly body: JsonObject;
}

/**
 * Builds the request for a video.
 *
 * @throws {UpstreamFailure} `invalid` for input that the model does not support.
 */
export function wanRequestOf(outbound: Outbound, order: VideoOrder): WanRequest {
  const dialect = dialectOf(order.model);
  const model = dialect === "wan3" || /-(?:t2v|i2v|r2v|kf2v)/.test(order.model)
    ? order.model
    : order.model + MODEL_SUFFIXES[order.mode];
  const { negative_prompt: negative, ...options } = order.options;
  return {
    path: model.includes("-kf2v") ? KEYFRAMES : SYNTHESIS,
    body: {
      model,
      input: {
        prompt: order.prompt,
        ...(negative !== undefined && { negative_prompt: negative }),
        ...mediaOf(outbound, order, dialect, model),
      },
      parameters: {
        ...options,
        ...shapeFieldsOf(outbound, order, dialect, model),
        ...(order.durationSeconds !== null && order.durationSeconds > 0 && { duration: order.durationSeconds }),
        ...(order.seed !== null && { seed: order.seed }),
        ...(order.generateAudio !== null && dialect !== "wan2.7" && { audio: order.generateAudio }),
      },
    },
  };
}

/** Names the fields that are not sent. Version 2.7 always generates audio. */
export function wanDroppedOf({ model, generateAudio }: VideoOrder): string[] {
  return generateAudio === false && dialectOf(model) === "wan2.7" ? ["generate_audio"] : [];
}

function dialectOf(model: string): Dialect {
  if (model.startsWith("wan3")) return "wan3";
  return model.startsWith("wan2.7") ? "wan2.7" : "older";
}

function mediaOf(outbound: Outbound, order: VideoOrder, dialect: Dialect, model: string): JsonObject {
  const { firstFrame, lastFrame, references } = order;
  if (dialect === "wan3") return listedMedia(order);
  if (model.includes("-kf2v")) {
    return {
      ...(firstFrame !== null && { first_frame_url: firstFrame.value }),
      ...(lastFrame !== null && { last_frame_url: lastFrame.value }),
    };
  }
  if (lastFrame !== null) {
    throw outbound.failure("invalid", `"${model}" does not support a last frame`, { field: "frame_images" });
  }
  if (references.some(({ medium }) => medium === "audio")) {
    throw outbound.failure("invalid", `"${model}" does not support audio references`, { field: "input_references" });
  }
  if (firstFrame !== null && !model.includes("-r2v")) return { img_url: firstFrame.value };
  if (references.length === 0 && firstFrame === null) return {};
  return dialect === "wan2.7" ? listedMedia(order) : { reference_urls: references.map(({ value }) => value) };
}

function listedMedia({ firstFrame, lastFrame, references }: VideoOrder): JsonObject {
  const media = [
    ...(firstFrame ? [{ type: "first_frame", url: firstFrame.value }] : []),
    ...(lastFrame ? [{ type: "last_frame", url: lastFrame.value }] : []),
    ...references.map(({ medium, value }: VideoMedia) => ({ type: `reference_${medium}`, url: value })),
  ];
  return media.length > 0 ? { media } : {};
}

/** Models that create videos from frames alone take the ratio from the frame. */
function shapeFieldsOf(outbound: Outbound, order: VideoOrder, dialect: Dialect, model: string): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const takesRatioFromFrame = /-(?:i2v|kf2v)/.test(model);
  if (dialect === "older" && !takesRatioFromFrame) return pixelsOf(outbound, resolution, ratio);
  return {
    ...(resolution !== null && { resolution }),
    ...(ratio !== null && !takesRatioFromFrame && { ratio }),
  };
}

function pixelsOf(outbound: Outbound, resolution: string | null, ratio: string | null): JsonObject {
  if (resolution === null && ratio === null) return {};
  const size = ownValue(ownValue(PIXELS, resolution ?? "720P") ?? {}, ratio ?? "16:9");
  if (size !== undefined) return { size };
  const message = `The aspect ratio ${ratio ?? "16:9"} is not supported at ${resolution ?? "720P"}`;
  throw outbound.failure("invalid", message, { field: "aspect_ratio" });
}
