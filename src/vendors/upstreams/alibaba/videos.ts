import { DEFAULT_IMAGE_TYPES } from "../../../platform/lib/media/media_type.ts";
import * as z from "zod";
import type { Outbound } from "../call/outbound_call.ts";
import { MEDIA_REASON } from "../shared/videos/refused_options.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { cancelPending, failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import type { RefusedOptions, VideoJobHandle, VideoProgress, VideoUpstream } from "../contract/video_upstream.ts";
import { isAlibabaRefusal, readAlibabaError } from "./refusal.ts";
import { wanDroppedOf, wanRequestOf } from "./wan_request.ts";

/** Wan on Alibaba Cloud Model Studio. Source: Model Studio API reference, "Manage asynchronous tasks". */

const TASKS = "/api/v1/tasks";

const text = z.string().nullish().catch(null);
const seconds = z.number().nonnegative().nullish().catch(null);

const Created = z.object({ output: z.object({ task_id: z.string().min(1) }) });

const Task = z.object({
  output: z.object({ task_status: z.string(), video_url: text, code: text, message: text }),
  usage: z.object({ duration: seconds, output_video_duration: seconds }).nullish().catch(null),
});

const SHAPE = 'use "resolution", "aspect_ratio" or "size"';

const REFUSED_OPTIONS: RefusedOptions = {
  size: SHAPE,
  ratio: SHAPE,
  input: MEDIA_REASON,
  media: MEDIA_REASON,
  imgurl: MEDIA_REASON,
  referenceurls: MEDIA_REASON,
  firstframeurl: MEDIA_REASON,
  lastframeurl: MEDIA_REASON,
  audiourl: MEDIA_REASON,
  shottype: "it changes the output and its price",
};

/** Source: Model Studio, "Wan - image-to-video API Reference", `img_url` (December 2025). */
const IMAGE_TYPES = [...DEFAULT_IMAGE_TYPES, "image/bmp"];

/**
 * Creates the video upstream for Wan. The vendor returns no client-supplied identifier, so a lost job cannot be found.
 */
export function wanVideos(outbound: Outbound): VideoUpstream {
  // Without this header the vendor rejects the request: it does not create videos synchronously.
  const exchange = videoExchange(outbound, readAlibabaError, { createHeaders: { "x-dashscope-async": "enable" } });
  const pathOf = ({ id }: VideoJobHandle) => `${TASKS}/${encodeURIComponent(id)}`;
  const poll = (job: VideoJobHandle) => exchange.get(pathOf(job), (response) => progressOf(outbound, response));
  return {
    // Videos and audio are sent as URLs only; images can also be sent inline.
    mediaForms: { image: ["url", "data_uri"], imageTypes: IMAGE_TYPES, audio: ["url"], video: ["url"] },
    async create(order) {
      const { path, body } = wanRequestOf(outbound, order);
      const { output } = await exchange.create(path, body, (response) => Created.parse(response));
      return { id: output.task_id, place: null };
    },
    poll,
    cancel: (job) => cancelPending(job, poll, (pendingJob) => exchange.send("POST", `${pathOf(pendingJob)}/cancel`)),
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    droppedFields: wanDroppedOf,
  };
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const { output, usage } = Task.parse(response);
  switch (output.task_status.toUpperCase()) {
    case "PENDING":
      return pending(false);
    case "RUNNING":
      return pending(true);
    case "SUCCEEDED": {
      const duration = usage?.output_video_duration ?? usage?.duration ?? null;
      return finished(outbound, [output.video_url], { seconds: duration, costUsd: null });
    }
    case "FAILED":
      return failed(outbound, output.message || output.code || "", isAlibabaRefusal(output.code));
    case "CANCELED":
    case "CANCELLED":
      return { status: "cancelled" };
    case "UNKNOWN":
      // The vendor deletes a task record after a day.
      return { status: "expired" };
    default:
      return unknownStatus(output.task_status);
  }
}
