import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { MEDIA_REASON } from "../shared/videos/refused_options.ts";
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

/** Ray 2. Source: Dream Machine API reference, "Generations"; `lumaai` 1.19.1. */

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "540p", shortSide: 540 },
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
    "4K": { value: "4k", shortSide: 2_160 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "9:21"],
};

const REFUSED_OPTIONS: RefusedOptions = {
  generationtype: "it selects the kind of generation, which follows from the request",
  keyframes: MEDIA_REASON,
};

const text = z.string().nullish().catch(null);

const Generation = z.object({
  state: z.string(),
  failure_reason: text,
  assets: z.object({ video: text, image: text }).nullish().catch(null),
});

/**
 * Creates the video upstream for Luma's Dream Machine API. It takes images by URL only.
 */
export function dreamMachineVideos(outbound: Outbound): VideoUpstream {
  return {
    ...generations(outbound, { path: "/generations/video", bodyOf, progressOf }),
    mediaForms: { image: ["url"], audio: [], video: [] },
    refusedOptions: REFUSED_OPTIONS,
    droppedFields: droppedByLuma,
  };
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const { durationSeconds, firstFrame, lastFrame, callbackUrl } = order;
  const frames = {
    ...(firstFrame && { frame0: imageOf(firstFrame) }),
    ...(lastFrame && { frame1: imageOf(lastFrame) }),
  };
  return {
    ...order.options,
    generation_type: "video",
    model: order.model,
    prompt: order.prompt,
    ...(durationSeconds !== null && durationSeconds > 0 && { duration: `${durationSeconds}s` }),
    ...(resolution !== null && { resolution }),
    ...(ratio !== null && { aspect_ratio: ratio }),
    ...(Object.keys(frames).length > 0 && { keyframes: frames }),
    ...(callbackUrl !== null && { callback_url: callbackUrl }),
  };
}

function imageOf({ value }: VideoMedia): JsonObject {
  return { type: "image", url: value };
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const { state, failure_reason: reason, assets } = Generation.parse(response);
  switch (state.toLowerCase()) {
    case "queued":
      return pending(false);
    case "dreaming":
      return pending(true);
    case "completed":
      return finished(
        outbound,
        [assets?.video],
        { seconds: null, costUsd: null },
        { thumbnail: assets?.image ?? null },
      );
    case "failed":
      return failed(outbound, reason ?? "", isLumaRefusal(reason));
    default:
      return unknownStatus(state);
  }
}
