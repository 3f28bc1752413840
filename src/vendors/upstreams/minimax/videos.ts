import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { contentPartsOf } from "../shared/videos/video_content.ts";
import { MEDIA_REASON } from "../shared/videos/refused_options.ts";
import { vendorId } from "../shared/vendor_id.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { listedProgress, listQueryOf, MAX_JOBS_PER_LIST } from "../shared/videos/video_listing.ts";
import { cancelPending, failed, finished, progressOfStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type {
  RefusedOptions,
  VideoJobHandle,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import { createHailuo, isHailuo, pollHailuo, throwReportedFailure, VERSION_1 } from "./hailuo.ts";
import { errorCode, meaningOf, readRefusal } from "./refusal.ts";

/** MiniMax H3. Source: MiniMax API reference, "Video generation v2" (create, query, cancel or delete). */

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "480P", shortSide: 480 },
    "720p": { value: "768P", shortSide: 768 },
    "2K": { value: "2K", shortSide: 1_440 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"],
};

/** The ratio of a video from a prompt alone, because the vendor has no default. */
const DEFAULT_RATIO = "16:9";

const text = z.string().nullish().catch(null);
const number = z.number().nonnegative().nullish().catch(null);

const Created = z.object({ task_id: vendorId });

const ResponseBody = z.object({
  task: z.object({
    status: z.string(),
    content: z.object({ url: text }).nullish().catch(null),
    duration: number,
    usage: z.object({ output_seconds: number }).nullish().catch(null),
    error: z.object({ code: errorCode, message: text }).nullish().catch(null),
  }),
});

/** For both versions. The length of an edited video (`base_video`) is that of its input. */
const REFUSED_OPTIONS: RefusedOptions = {
  content: MEDIA_REASON,
  basevideo: MEDIA_REASON,
  firstframeimage: MEDIA_REASON,
  lastframeimage: MEDIA_REASON,
  subjectreference: MEDIA_REASON,
};

/**
 * Creates the video upstream for MiniMax: H3 uses version 2 of the API, Hailuo version 1. The vendor returns no
 * client-supplied identifier, so a lost job cannot be found.
 */
export function minimaxVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readRefusal);
  const pollH3 = ({ id }: VideoJobHandle) =>
    exchange.get(`/v2/query/video_generation/${encodeURIComponent(id)}`, (response) => progressOf(outbound, response));
  return {
    // The vendor names JPEG, PNG and WebP. Source: "Image to Video", `first_frame_image`, as of autumn 2026.
    mediaForms: { image: ["url", "data_uri"], audio: ["url"], video: ["url"] },
    async create(order) {
      if (isHailuo(order.model)) return await createHailuo(outbound, exchange, order);
      const body = bodyOf(outbound, order);
      const { task_id } = await exchange.create("/v2/video_generation", body, (response) => {
        throwReportedFailure(outbound, response);
        return Created.parse(response);
      });
      return { id: task_id, place: null };
    },
    poll: (job) => job.place === VERSION_1 ? pollHailuo(outbound, exchange, job) : pollH3(job),
    pollMany: {
      limit: MAX_JOBS_PER_LIST,
      async poll(jobs) {
        const listed = jobs.filter(({ place }) => place !== VERSION_1); // version 1 has no list
        if (listed.length === 0) return new Map();
        return await exchange.get(
          `/v2/query/video_generation?${listQueryOf(listed)}`,
          (response) => listedProgress(response, (task) => progressOf(outbound, { task })),
        );
      },
    },
    cancel(job) {
      // Version 1 cannot cancel a job.
      if (job.place === VERSION_1) return Promise.resolve("too_late");
      const remove = ({ id }: VideoJobHandle) =>
        exchange.send("DELETE", `/v2/video_generation/${encodeURIComponent(id)}`);
      return cancelPending(job, pollH3, remove);
    },
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    // H3 always creates audio, Hailuo never does.
    droppedFields: ({ model, seed, generateAudio }) => [
      ...(seed !== null ? ["seed"] : []),
      ...(generateAudio === isHailuo(model) ? ["generate_audio"] : []),
    ],
    accountSchemes: ["mm_file:"],
    renewsUrls: true,
    resultLifetimeMs: 9 * 3_600_000,
  };
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const shape = order.mode === "text2video" ? ratio ?? DEFAULT_RATIO : ratio;
  return {
    ...order.options,
    model: order.model,
    content: contentPartsOf(order),
    ...(order.durationSeconds !== null && { duration: order.durationSeconds }),
    ...(resolution !== null && { resolution }),
    // The first frame decides the ratio.
    ...(shape !== null && order.firstFrame === null && { ratio: shape }),
    ...(order.callbackUrl !== null && { callback_url: order.callbackUrl }),
  };
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const { task } = ResponseBody.parse(response);
  const { error, usage, duration, content } = task;
  return progressOfStatus(task.status, {
    succeeded: () =>
      finished(outbound, [content?.url], { seconds: usage?.output_seconds ?? duration ?? null, costUsd: null }),
    failed: () => failed(outbound, error?.message ?? "", error?.code ? meaningOf(error.code).isContentRefusal : false),
  });
}
