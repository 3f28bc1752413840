import { DEFAULT_IMAGE_TYPES } from "../../../platform/lib/media/media_type.ts";
import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { contentPartsOf } from "../shared/videos/video_content.ts";
import { MEDIA_REASON, PRICE_REASON } from "../shared/videos/refused_options.ts";
import { seedanceOptionIn } from "../shared/videos/seedance_prompt.ts";
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
import { isArkRefusal, readArkError } from "./failure_kind.ts";

/** Seedance on Ark. Source: Ark API reference, "Video generation API" (create, query, list, cancel or delete). */

const TASKS = "/contents/generations/tasks";

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "480p", shortSide: 480 },
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
    "4K": { value: "4k", shortSide: 2_160 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"],
};

const text = z.string().nullish().catch(null);
const number = z.number().nullish().catch(null);

const Created = z.object({ id: z.string().min(1) });

const Task = z.object({
  status: z.string(),
  content: z.object({ video_url: text, last_frame_url: text }).nullish().catch(null),
  error: z.object({ code: text, message: text }).nullish().catch(null),
  duration: number,
  frames: number,
  framespersecond: number,
});

const List = z.object({
  items: z.array(z.object({ id: z.string(), created_at: number, safety_identifier: text })),
});

const PAGE_SIZE = 100;
/** 5,000 jobs, which covers the time from before a creation until its outcome is decided. */
const MAX_PAGES = 50;

/** `frames` takes precedence over `duration`. Drafts and requests with a priority have other prices. */
const REFUSED_OPTIONS: RefusedOptions = {
  content: MEDIA_REASON,
  draft: PRICE_REASON,
  draftvideo: PRICE_REASON,
  drafttask: PRICE_REASON,
  drafttaskid: PRICE_REASON,
  priority: PRICE_REASON,
  tools: PRICE_REASON,
};

/**
 * HEIC is for Seedance 1.5 and later; earlier models refuse it. Source: BytePlus, "Create a video generation task",
 * `image_url`, as six clients quote it (autumn 2026).
 */
const IMAGE_TYPES = [...DEFAULT_IMAGE_TYPES, "image/bmp", "image/tiff", "image/gif", "image/heic", "image/heif"];

/** Creates the video upstream for Ark. */
export function arkVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readArkError);
  const pathOf = ({ id }: VideoJobHandle) => `${TASKS}/${encodeURIComponent(id)}`;
  const poll = (job: VideoJobHandle) => exchange.get(pathOf(job), (response) => progressOf(outbound, response));
  return {
    // Videos are sent as URLs only; images and audio can also be sent inline.
    mediaForms: { image: ["url", "data_uri"], imageTypes: IMAGE_TYPES, audio: ["url", "data_uri"], video: ["url"] },
    async create(order) {
      const { id } = await exchange.create(TASKS, bodyOf(outbound, order), (response) => Created.parse(response));
      return { id, place: null };
    },
    poll,
    pollMany: {
      limit: MAX_JOBS_PER_LIST,
      // The list omits jobs of another service tier and jobs older than seven days.
      poll: (jobs) =>
        exchange.get(
          `${TASKS}?${listQueryOf(jobs)}`,
          (response) => listedProgress(response, (item) => progressOf(outbound, item)),
        ),
    },
    cancel: (job) => cancelPending(job, poll, (pendingJob) => exchange.send("DELETE", pathOf(pendingJob))),
    async find(order, createdAfter) {
      const mark = markOf(order);
      for (let page = 1; page <= MAX_PAGES; page++) {
        const { items } = await exchange.get(listPathOf(order, page), (response) => List.parse(response));
        const found = items.find(({ safety_identifier }) => safety_identifier === mark);
        if (found) return { id: found.id, place: null };
        // Newest first. One second of tolerance, because the vendor's timestamps are whole seconds.
        const oldest = items.at(-1)?.created_at ?? 0;
        if (items.length < PAGE_SIZE || (oldest + 1) * 1_000 < createdAfter) return null;
      }
      // A job beyond the pages read may exist. Reporting it as absent would create it again.
      throw outbound.failure("unavailable", "The vendor's list of jobs has too many pages to search");
    },
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    optionInPrompt: seedanceOptionIn,
    accountSchemes: ["asset:"],
  };
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  return {
    ...order.options,
    model: order.model,
    content: contentPartsOf(order),
    ...(order.durationSeconds !== null && { duration: order.durationSeconds }),
    ...(resolution !== null && { resolution }),
    // The first frame decides the ratio; newer models reject a ratio with a frame.
    ...(ratio !== null && order.firstFrame === null && { ratio }),
    ...(order.seed !== null && { seed: order.seed }),
    ...(order.generateAudio !== null && { generate_audio: order.generateAudio }),
    ...(order.callbackUrl !== null && { callback_url: order.callbackUrl }),
    safety_identifier: markOf(order),
  };
}

/**
 * The identifier by which a lost job is found. The vendor returns `safety_identifier`, so it contains the task id. If
 * the caller sends an identifier, it is kept as a prefix so that the vendor can still distinguish end users.
 */
function markOf({ taskId, options }: VideoOrder): string {
  const callersIdentifier = options.safety_identifier;
  return typeof callersIdentifier === "string" && callersIdentifier !== ""
    ? `${callersIdentifier.slice(0, 27)}-${taskId}`
    : taskId;
}

function listPathOf({ options }: VideoOrder, page: number): string {
  const tier = options.service_tier === "flex" ? "&filter.service_tier=flex" : "";
  return `${TASKS}?page_num=${page}&page_size=${PAGE_SIZE}${tier}`;
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const task = Task.parse(response);
  return progressOfStatus(task.status, {
    succeeded: () =>
      finished(outbound, [task.content?.video_url], { seconds: secondsOf(task), costUsd: null }, {
        last_frame: task.content?.last_frame_url ?? null,
      }),
    failed: () => failed(outbound, task.error?.message || task.error?.code || "", isArkRefusal(task.error?.code)),
  });
}

/** The vendor reports either a duration or a number of frames. */
function secondsOf({ duration, frames, framespersecond }: z.infer<typeof Task>): number | null {
  if (duration) return duration > 0 ? duration : null;
  return frames && framespersecond ? frames / framespersecond : null;
}
