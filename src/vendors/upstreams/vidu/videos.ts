import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { ACCOUNT_REASON, MEDIA_REASON, PRICE_REASON } from "../shared/videos/refused_options.ts";
import { vendorId } from "../shared/vendor_id.ts";
import { type VideoExchange, videoExchange } from "../shared/videos/video_exchange.ts";
import { cancelPending, failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type {
  CancelOutcome,
  RefusedOptions,
  VideoJobHandle,
  VideoOrder,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import type { VideoProgress } from "../contract/video_upstream.ts";
import { isViduRefusal, readViduError } from "./refusal.ts";

/**
 * Vidu's videos. Source: Vidu API documentation, "Text to Video", "Image to Video", "Start End to Video", "Reference to
 * Video", "Get Generation", "Cancel Task". They name JPEG, PNG and WebP as the types of images.
 */

const TASKS = "/ent/v2/tasks";

/** The last path segment of a creation. */
type JobKind = "text2video" | "img2video" | "start-end2video" | "reference2video";

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "540p", shortSide: 540 },
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4"],
};

const REFUSED_OPTIONS: RefusedOptions = {
  images: MEDIA_REASON,
  videos: MEDIA_REASON,
  subjects: MEDIA_REASON,
  wmurl: MEDIA_REASON,
  voiceid: ACCOUNT_REASON,
  offpeak: PRICE_REASON,
  isrec: PRICE_REASON,
};

const text = z.string().nullish().catch(null);

const Created = z.object({ task_id: vendorId });

const Job = z.object({
  state: z.string(),
  err_code: text,
  creations: z.array(z.object({ url: text, cover_url: text })).nullish().catch(null),
});

/**
 * Creates the video upstream for Vidu. It cancels jobs that are not scheduled yet. The vendor lists no jobs by an
 * identifier of the client, so a lost job cannot be found. It reports credits, whose price depends on the account.
 */
export function viduVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readViduError);
  const poll = ({ id }: VideoJobHandle) =>
    exchange.get(`${TASKS}/${encodeURIComponent(id)}/creations`, (response) => progressOf(outbound, response));
  return {
    mediaForms: { image: ["url", "data_uri"], audio: [], video: ["url"] },
    async create(order) {
      const kind = kindFor(order);
      const body = bodyOf(outbound, order, kind);
      const { task_id } = await exchange.create(`/ent/v2/${kind}`, body, (response) => Created.parse(response));
      return { id: task_id, place: null };
    },
    poll,
    cancel: (job) => cancel(exchange, job, poll),
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    droppedFields: droppedOf,
  };
}

function kindFor({ mode }: VideoOrder): JobKind {
  switch (mode) {
    case "text2video":
      return "text2video";
    case "img2video":
      return "img2video";
    case "img2video_end":
      return "start-end2video";
    case "imgref2video":
    case "mixref2video":
      return "reference2video";
  }
}

function bodyOf(outbound: Outbound, order: VideoOrder, kind: JobKind): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const { durationSeconds, generateAudio, seed, callbackUrl, firstFrame, lastFrame, references } = order;
  const images = [firstFrame, lastFrame, ...references].filter((media) => media?.medium === "image");
  const videos = references.filter(({ medium }) => medium === "video");
  return {
    ...order.options,
    model: order.model,
    prompt: order.prompt,
    ...(durationSeconds !== null && durationSeconds > 0 && { duration: durationSeconds }),
    ...(resolution !== null && { resolution }),
    // The first frame decides the ratio.
    ...(ratio !== null && firstFrame === null && { aspect_ratio: ratio }),
    ...(images.length > 0 && { images: images.map((media) => media?.value) }),
    ...(videos.length > 0 && { videos: videos.map(({ value }) => value) }),
    ...(generateAudio !== null && hasAudioSwitch(order.model, kind) && { audio: generateAudio }),
    ...(seed !== null && seed >= 0 && { seed }),
    ...(callbackUrl !== null && { callback_url: callbackUrl }),
  };
}

/** Q3 has the switch for every kind, Q2 for a first frame or references. Other videos are silent. */
function hasAudioSwitch(model: string, kind: JobKind): boolean {
  if (/^viduq2/.test(model)) return kind === "img2video" || kind === "reference2video";
  return !/^vidu(?:q1|[12]\.)/.test(model);
}

function droppedOf(order: VideoOrder): string[] {
  const { generateAudio, aspectRatio, firstFrame, model } = order;
  return [
    ...(generateAudio === true && !hasAudioSwitch(model, kindFor(order)) ? ["generate_audio"] : []),
    ...(aspectRatio !== null && firstFrame !== null ? ["aspect_ratio"] : []),
  ];
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const { state, err_code: code, creations } = Job.parse(response);
  switch (state.toLowerCase()) {
    case "created":
    case "queueing":
      return pending(false);
    case "processing":
      return pending(true);
    case "success": {
      const urls = (creations ?? []).map(({ url }) => url);
      const thumbnail = creations?.[0]?.cover_url ?? null;
      return finished(outbound, urls, { seconds: null, costUsd: null }, { thumbnail });
    }
    case "failed":
      // Cancelled jobs have no state of their own.
      return code === "UserCancelled" ? { status: "cancelled" } : failed(outbound, code ?? "", isViduRefusal(code));
    default:
      return unknownStatus(state);
  }
}

/** A scheduled job, which cannot be cancelled, can still have the state of a waiting one. */
async function cancel(
  exchange: VideoExchange,
  job: VideoJobHandle,
  poll: (job: VideoJobHandle) => Promise<VideoProgress>,
): Promise<CancelOutcome> {
  let isScheduled = false;
  try {
    return await cancelPending(job, poll, async ({ id }) => {
      try {
        await exchange.send("POST", `${TASKS}/${encodeURIComponent(id)}/cancel`);
      } catch (thrown) {
        isScheduled = thrown instanceof UpstreamFailure && thrown.facts.status === 400;
        throw thrown;
      }
    });
  } catch (thrown) {
    if (isScheduled) return "too_late";
    throw thrown;
  }
}
