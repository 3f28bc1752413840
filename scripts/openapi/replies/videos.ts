import * as z from "zod";
import { TERMINAL_STATUSES } from "../../../src/services/webhooks/ended_task.ts";
import type { TaskObject } from "../../../src/services/videos/tasks/task_object.ts";
import { VIDEO_STATUSES } from "../../../src/services/videos/tasks/task.ts";
import { DELIVERY_STATES } from "../../../src/services/webhooks/delivery.ts";
import { about, seconds, usd, written } from "../schema.ts";

/** Seconds of a video and their cost. */
export const VideoUsage = z.object({ video_seconds: z.number(), video_cost: usd(), cost: z.number() })
  .meta({ id: "VideoUsage" });

const fields = {
  id: z.uuid(),
  model: about(z.string(), "The name in the request."),
  prompt: z.string(),
  unsigned_urls: about(z.array(z.string()), "Addresses at the vendor, which decides when they expire."),
  mirror_urls: about(z.array(z.url()), "Signed addresses at the gateway."),
  usage: about(VideoUsage, "Zero until the task is completed."),
  created_at: seconds(),
  updated_at: seconds(),
  object: z.literal("video"),
  polling_url: z.url(),
  seconds: about(z.string(), "The requested or generated length in seconds."),
  size: about(z.string(), "`<WIDTH>x<HEIGHT>`, if one was requested.").exactOptional(),
  metadata: z.record(z.string(), z.string()),
  dropped: about(z.array(z.string()), "Fields of the create that a provider does not support.").exactOptional(),
  progress: about(z.number(), "0 to 100; absent if the vendor reports none.").exactOptional(),
  queue_position: about(z.int(), "Jobs ahead of it at the vendor.").exactOptional(),
  started_at: seconds().exactOptional(),
  completed_at: about(z.int().nullable(), "Unix seconds; null unless completed."),
  last_frame_url: z.string().exactOptional(),
  last_frame_mirror_url: z.url().exactOptional(),
  thumbnail_url: z.string().exactOptional(),
  thumbnail_mirror_url: z.url().exactOptional(),
  provider: about(z.string(), "The provider that serves it, once known.").exactOptional(),
};

const Failure = z.object({ code: z.string(), message: z.string() });

/** A task. */
export const VideoTask = written<TaskObject>()(z.object({
  ...fields,
  status: z.enum(VIDEO_STATUSES),
  error: about(Failure, "Of failed tasks.").exactOptional(),
})).meta({ id: "VideoTask" });

/** A task as OpenAI's libraries read it. */
export const OpenAiVideo = z.object({
  ...fields,
  status: z.enum(["queued", "in_progress", "completed", "failed"]),
  error: Failure.nullable(),
  expires_at: z.null(),
  remixed_from_video_id: z.null(),
}).meta({ id: "OpenAiVideo", description: "A task for OpenAI's libraries, which are recognized by their headers." });

/** A task as OpenRouter's library reads it. */
export const OpenRouterVideo = z.object({
  ...fields,
  status: z.string(),
  error: about(z.string(), "Of failed tasks.").exactOptional(),
}).meta({ id: "OpenRouterVideo", description: "A task for OpenRouter's library, which is recognized by its headers." });

/** A task in any dialect. */
export const AnyVideo = z.union([VideoTask, OpenAiVideo, OpenRouterVideo]);

const estimate = { estimate: about(VideoUsage, "What is held.").exactOptional() };

/** A new task. */
export const CreatedVideo = z.union([
  z.object({ id: z.uuid(), status: z.literal("pending"), polling_url: z.url(), ...estimate }).meta({
    id: "CreatedVideo",
  }),
  OpenAiVideo.extend(estimate).meta({ id: "CreatedOpenAiVideo" }),
]);

/** A page of tasks. */
export const VideoList = z.object({
  object: z.literal("list"),
  data: z.array(AnyVideo),
  has_more: z.boolean(),
  next: about(z.string().nullable(), "The `after` of the next page."),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
}).meta({ id: "VideoList" });

/** A removed task. */
export const DeletedVideo = z.object({ id: z.uuid(), object: z.literal("video.deleted"), deleted: z.literal(true) })
  .meta({ id: "DeletedVideo" });

const delivery = {
  id: about(z.string(), "The idempotency key: the task and its status."),
  object: z.literal("webhook.delivery"),
  event: z.string(),
  url: z.string(),
  state: z.enum(DELIVERY_STATES),
  created_at: seconds(),
  next_attempt_at: about(z.int().nullable(), "Unix seconds."),
  settled_at: about(z.int().nullable(), "Unix seconds; null while pending."),
  body_bytes: z.int(),
};

/** The delivery of a task's event. */
export const WebhookDelivery = z.object(delivery).meta({ id: "WebhookDelivery" });

/** The deliveries of a task. */
export const WebhookDeliveryList = z.object({
  object: z.literal("list"),
  data: z.array(z.object({
    ...delivery,
    attempts: z.array(z.object({
      number: z.int(),
      started_at: seconds(),
      duration_ms: z.number(),
      outcome: z.enum(["acknowledged", "failed"]),
      status: z.int().nullable(),
      failure: z.string().nullable(),
      reason: z.string().nullable(),
      answer_bytes: z.int().nullable(),
    })),
  })),
}).meta({ id: "WebhookDeliveryList" });

/** The body of a webhook. */
export const VideoEvent = z.object({
  event: z.enum(TERMINAL_STATUSES.map((status) => `video.generation.${status}`)),
  id: about(z.uuid(), "The id of the task."),
  created_at: about(z.int(), "The end of the task in Unix seconds."),
  data: VideoTask,
}).meta({ id: "VideoEvent" });
