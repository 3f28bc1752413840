import type { JsonObject } from "../../lib/json_object.ts";
import type { Outbound } from "../outbound_call.ts";
import { shapeOf, type VideoShapes } from "../video_shape.ts";
import type { VideoMode } from "../../lib/video_mode.ts";
import type { VideoMedia, VideoOrder } from "../video_upstream.ts";

/**
 * The request for a video in one of Wan's three dialects. Source: Model Studio API reference, "Wan text to video",
 * "image to video", "keyframes to video", "reference to video"; the client `@ai-sdk/alibaba`.
 */

/** Which dialect a model has, by its name: `wan3`, `wan2.7`, or that of the versions before. */
type Dialect = "wan3" | "wan2.7" | "older";

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { word: "480P", shortSide: 480 },
    "720p": { word: "720P", shortSide: 720 },
    "1080p": { word: "1080P", shortSide: 1_080 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4"],
};

/** Pixels by resolution and ratio, for models that take no ratio. */
const PIXELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "480P": { "16:9": "832*480", "9:16": "480*832", "1:1": "624*624" },
  "720P": { "16:9": "1280*720", "9:16": "720*1280", "1:1": "960*960", "4:3": "1088*832", "3:4": "832*1088" },
  "1080P": { "16:9": "1920*1080", "9:16": "1080*1920", "1:1": "1440*1440", "4:3": "1632*1248", "3:4": "1248*1632" },
};

/** Each mode has a model of its own before version 3; a family's name stands for all of them. */
const ENDINGS: Readonly<Record<VideoMode, string>> = {
  text2video: "-t2v",
  img2video: "-i2v",
  img2video_end: "-kf2v",
  imgref2video: "-r2v",
  mixref2video: "-r2v",
};

const SYNTHESIS = "/api/v1/services/aigc/video-generation/video-synthesis";
const KEYFRAMES = "/api/v1/services/aigc/image2video/video-synthesis";

/** Where and with what a video is ordered. */
export interface WanRequest {
  readonly path: string;
  readonly body: JsonObject;
}

/**
 * The request of an order.
 *
 * @throws {UpstreamFailure} `invalid` for what the model does not take.
 */
export function wanRequestOf(outbound: Outbound, order: VideoOrder): WanRequest {
  const dialect = dialectOf(order.model);
  const model = dialect === "wan3" || /-(?:t2v|i2v|r2v|kf2v)/.test(order.model)
    ? order.model
    : order.model + ENDINGS[order.mode];
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

/** Names what the request does not hold: version 2.7 always makes sound. */
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
    throw outbound.failure("invalid", `"${model}" takes no last frame`, { field: "frame_images" });
  }
  if (references.some(({ medium }) => medium === "audio")) {
    throw outbound.failure("invalid", `"${model}" takes no audio references`, { field: "input_references" });
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

/** A frame decides the ratio where the model makes videos from frames alone. */
function shapeFieldsOf(outbound: Outbound, order: VideoOrder, dialect: Dialect, model: string): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const isFramed = /-(?:i2v|kf2v)/.test(model);
  if (dialect === "older" && !isFramed) return pixelsOf(outbound, resolution, ratio);
  return {
    ...(resolution !== null && { resolution }),
    ...(ratio !== null && !isFramed && { ratio }),
  };
}

function pixelsOf(outbound: Outbound, resolution: string | null, ratio: string | null): JsonObject {
  if (resolution === null && ratio === null) return {};
  const size = PIXELS[resolution ?? "720P"]?.[ratio ?? "16:9"];
  if (size !== undefined) return { size };
  const said = `Cannot make a video of ratio ${ratio ?? "16:9"} in ${resolution ?? "720P"}`;
  throw outbound.failure("invalid", said, { field: "aspect_ratio" });
}
