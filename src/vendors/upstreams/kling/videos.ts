import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { ACCOUNT_REASON, MEDIA_REASON, PRICE_REASON } from "../shared/videos/refused_options.ts";
import { vendorId } from "../shared/vendor_id.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type {
  RefusedOptions,
  VideoJobHandle,
  VideoMedia,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import { isContentFailure, isMissing, readKlingError, throwReportedFailure } from "./refusal.ts";

/**
 * Kling's videos. Source: Kling API reference, "Text to Video", "Image to Video", "Multi-Image to Video", "Omni-Video".
 */

const VIDEOS = "/v1/videos";

/** The last path segment of a creation. The job is polled at the same path. */
type JobKind = "text2video" | "image2video" | "multi-image2video" | "omni-video";

/** Resolutions are sold as modes. */
const SHAPES: VideoShapes = {
  resolutions: {
    "720p": { value: "std", shortSide: 720 },
    "1080p": { value: "pro", shortSide: 1_080 },
    "4K": { value: "4k", shortSide: 2_160 },
  },
  ratios: ["16:9", "9:16", "1:1"],
};

const REFUSED_OPTIONS: RefusedOptions = {
  mode: 'it sets the resolution of the video; use "resolution"',
  aspectratio: 'it sets the shape of the video; use "aspect_ratio" or "size"',
  externaltaskid: "the gateway uses it to find the job",
  image: MEDIA_REASON,
  imagetail: MEDIA_REASON,
  imagelist: MEDIA_REASON,
  videolist: MEDIA_REASON,
  videourl: MEDIA_REASON,
  staticmask: MEDIA_REASON,
  dynamicmasks: MEDIA_REASON,
  videoid: ACCOUNT_REASON,
  elementlist: ACCOUNT_REASON,
  voicelist: PRICE_REASON,
};

const text = z.string().nullish().catch(null);
const Created = z.object({ data: z.object({ task_id: vendorId }) });

const Job = z.object({
  data: z.object({
    task_id: vendorId,
    task_status: z.string(),
    task_status_msg: text,
    task_info: z.object({ external_task_id: text }).nullish().catch(null),
    task_result: z.object({
      videos: z.array(z.object({ url: text, duration: text })).nullish().catch(null),
    }).nullish().catch(null),
  }).nullish(),
});

/** Source: Kling API reference, "Image to Video", `image`, as of autumn 2026. */
const IMAGE_TYPES = ["image/jpeg", "image/png"];

/** Creates the video upstream for Kling. The vendor cannot cancel a job. A lost job is found by the task id. */
export function klingVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readKlingError);
  const getJob = <T>(kind: string, id: string, read: (job: z.infer<typeof Job>["data"]) => T) =>
    exchange.get(`${VIDEOS}/${kind}/${encodeURIComponent(id)}`, (response) => {
      throwReportedFailure(outbound, response);
      return read(Job.parse(response).data);
    });
  return {
    mediaForms: { image: ["url", "base64"], imageTypes: IMAGE_TYPES, audio: [], video: ["url"] },
    async create(order) {
      const kind = kindFor(outbound, order);
      const { data } = await exchange.create(`${VIDEOS}/${kind}`, bodyOf(outbound, order, kind), (response) => {
        throwReportedFailure(outbound, response);
        return Created.parse(response);
      });
      return { id: data.task_id, place: kind };
    },
    poll: (job) => getJob(placeIn(job), job.id, (data) => progressOf(outbound, data)),
    cancel: null,
    async find(order) {
      const kind = kindFor(outbound, order);
      try {
        return await getJob(kind, order.taskId, (data) => {
          const isThisTask = data?.task_info?.external_task_id === order.taskId;
          return isThisTask ? { id: data.task_id, place: kind } : null;
        });
      } catch (thrown) {
        if (thrown instanceof UpstreamFailure && isMissing(thrown)) return null;
        throw thrown;
      }
    },
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    droppedFields: droppedOf,
    resultLifetimeMs: 30 * 86_400_000,
  };
}

/** Omni models serve all modes at one path; other models have a path for each mode. */
function isOmni(model: string): boolean {
  return /-omni\b|-video-o\d/.test(model);
}

function kindFor(outbound: Outbound, { model, mode }: VideoOrder): JobKind {
  if (isOmni(model)) return "omni-video";
  switch (mode) {
    case "text2video":
      return "text2video";
    case "img2video":
    case "img2video_end":
      return "image2video";
    case "imgref2video":
      return "multi-image2video";
    case "mixref2video":
      throw outbound.failure("invalid", `"${model}" does not support the mode ${mode}`);
  }
}

function placeIn({ id, place }: VideoJobHandle): string {
  if (place === null) throw new TypeError(`Cannot poll the Kling job "${id}": its path is missing`);
  return place;
}

function bodyOf(outbound: Outbound, order: VideoOrder, kind: JobKind): JsonObject {
  const { resolution: mode, ratio } = shapeOf(outbound, order, SHAPES);
  const { durationSeconds, generateAudio, callbackUrl } = order;
  return {
    ...order.options,
    model_name: order.model,
    prompt: order.prompt,
    // A whole number as text. With a reference video the vendor accepts no length.
    ...(durationSeconds !== null && durationSeconds > 0 && !hasVideo(order) && { duration: String(durationSeconds) }),
    ...(mode !== null && { mode }),
    ...(ratio !== null && order.firstFrame === null && { aspect_ratio: ratio }),
    ...mediaOf(order, kind),
    ...(generateAudio !== null && kind !== "multi-image2video" && {
      sound: generateAudio && !hasVideo(order) ? "on" : "off",
    }),
    ...(callbackUrl !== null && { callback_url: callbackUrl }),
    external_task_id: order.taskId,
  };
}

function mediaOf({ firstFrame, lastFrame, references }: VideoOrder, kind: JobKind): JsonObject {
  const images = references.filter(({ medium }) => medium === "image");
  switch (kind) {
    case "text2video":
      return {};
    case "image2video":
      return { ...(firstFrame && { image: firstFrame.value }), ...(lastFrame && { image_tail: lastFrame.value }) };
    case "multi-image2video":
      return { image_list: images.map(({ value }) => ({ image: value })) };
    case "omni-video": {
      const frames = [
        ...(firstFrame ? [{ image_url: firstFrame.value, type: "first_frame" }] : []),
        ...(lastFrame ? [{ image_url: lastFrame.value, type: "end_frame" }] : []),
      ];
      const all = [...frames, ...images.map(({ value }) => ({ image_url: value }))];
      const videos = references.filter(isVideo).map(({ value }) => ({ video_url: value, refer_type: "feature" }));
      return { ...(all.length > 0 && { image_list: all }), ...(videos.length > 0 && { video_list: videos }) };
    }
  }
}

function hasVideo({ references }: VideoOrder): boolean {
  return references.some(isVideo);
}

function isVideo({ medium }: VideoMedia): boolean {
  return medium === "video";
}

function droppedOf(order: VideoOrder): string[] {
  const { seed, generateAudio, aspectRatio, firstFrame, durationSeconds, mode, model } = order;
  const hasNoAudio = hasVideo(order) || (mode === "imgref2video" && !isOmni(model));
  return [
    ...(seed !== null ? ["seed"] : []),
    ...(generateAudio === true && hasNoAudio ? ["generate_audio"] : []),
    ...(aspectRatio !== null && firstFrame !== null ? ["aspect_ratio"] : []),
    ...(durationSeconds !== null && durationSeconds > 0 && hasVideo(order) ? ["duration"] : []),
  ];
}

function progressOf(outbound: Outbound, job: z.infer<typeof Job>["data"]): VideoProgress {
  // The vendor can respond without data while the job is pending.
  if (!job) return pending(null);
  switch (job.task_status.toLowerCase()) {
    case "submitted":
      return pending(false);
    case "processing":
      return pending(true);
    case "succeed": {
      const videos = job.task_result?.videos ?? [];
      return finished(outbound, videos.map(({ url }) => url), { seconds: secondsOf(videos), costUsd: null });
    }
    case "failed": {
      const message = job.task_status_msg ?? "";
      return failed(outbound, message, isContentFailure(message));
    }
    default:
      return unknownStatus(job.task_status);
  }
}

/** Parses a length as the vendor writes it: `"5.1"`. */
function secondsOf([video]: readonly { readonly duration?: string | null | undefined }[]): number | null {
  const seconds = Number(video?.duration ?? "");
  return seconds > 0 && Number.isFinite(seconds) ? seconds : null;
}
