import * as z from "zod";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { ACCOUNT_REASON, MEDIA_REASON, PRICE_REASON } from "../shared/videos/refused_options.ts";
import { failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type {
  RefusedOptions,
  VideoMedia,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import { isLumaRefusal } from "./error.ts";
import { droppedByLuma, generations } from "./generations.ts";

/**
 * Ray 3.2 and later. Source: Luma Agents documentation, "Video generation", "Error handling"; `luma-agents` 0.3.0. They
 * name JPEG, PNG and WebP as the types of images.
 */

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "540p", shortSide: 540 },
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"],
};

const REFUSED_OPTIONS: RefusedOptions = {
  type: "it selects the kind of generation, which follows from the request",
  hdr: PRICE_REASON,
  exrexport: PRICE_REASON,
  edit: PRICE_REASON,
  source: MEDIA_REASON,
  imageref: MEDIA_REASON,
  startframe: MEDIA_REASON,
  endframe: MEDIA_REASON,
  keyframes: MEDIA_REASON,
  keyframeindexes: MEDIA_REASON,
  generationid: ACCOUNT_REASON,
};

const RESULT_LIFETIME_MS = 3_600_000;

const text = z.string().nullish().catch(null);

const Generation = z.object({
  state: z.string(),
  failure_code: text,
  failure_reason: text,
  output: z.array(z.object({ type: text, url: text })).nullish().catch(null),
});

/** Creates the video upstream for Luma's current API. */
export function lumaVideos(outbound: Outbound): VideoUpstream {
  return {
    ...generations(outbound, { path: "/generations", bodyOf, progressOf }),
    mediaForms: { image: ["url", "base64"], audio: [], video: [] },
    refusedOptions: REFUSED_OPTIONS,
    droppedFields: droppedOf,
    resultLifetimeMs: RESULT_LIFETIME_MS,
  };
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const { durationSeconds, firstFrame, lastFrame, options } = order;
  return {
    ...options,
    model: order.model,
    type: "video",
    prompt: order.prompt,
    // The first frame decides the ratio.
    ...(ratio !== null && firstFrame === null && { aspect_ratio: ratio }),
    video: {
      ...(isObject(options.video) && options.video),
      ...(resolution !== null && { resolution }),
      ...(durationSeconds !== null && durationSeconds > 0 && { duration: `${durationSeconds}s` }),
      ...(firstFrame && { start_frame: imageOf(firstFrame) }),
      ...(lastFrame && { end_frame: imageOf(lastFrame) }),
    },
  };
}

function imageOf({ form, value, mediaType }: VideoMedia): JsonObject {
  return form === "url" ? { url: value } : { data: value, media_type: mediaType };
}

function droppedOf(order: VideoOrder): string[] {
  const hasRatioOfFrame = order.aspectRatio !== null && order.firstFrame !== null;
  return [...droppedByLuma(order), ...(hasRatioOfFrame ? ["aspect_ratio"] : [])];
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const { state, failure_code: code, failure_reason: reason, output } = Generation.parse(response);
  switch (state.toLowerCase()) {
    case "queued":
      return pending(false);
    case "processing":
      return pending(true);
    case "completed": {
      const urls = (output ?? []).filter(({ type }) => type !== "image").map(({ url }) => url);
      return finished(outbound, urls, { seconds: null, costUsd: null });
    }
    case "failed":
      return failed(outbound, reason || code || "", code === "content_moderated" || isLumaRefusal(reason));
    default:
      return unknownStatus(state);
  }
}
