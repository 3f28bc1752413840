import * as z from "zod";
import { VIDEO_STATUSES } from "../../../src/services/videos/tasks/task.ts";
import { PAID_ERRORS } from "../errors.ts";
import type { HeaderName } from "../headers.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { DRY_RUN, IDEMPOTENCY_KEY, LAST_EVENT_ID } from "../parameters.ts";
import { DryRun } from "../replies/dry_run.ts";
import { VideoModelList } from "../replies/models.ts";
import {
  AnyVideo,
  CreatedVideo,
  DeletedVideo,
  VideoList,
  VideoTask,
  WebhookDelivery,
  WebhookDeliveryList,
} from "../replies/videos.ts";
import { VideoCreate, VideoCreateForm } from "../requests.ts";
import { sse } from "./texts.ts";

const ID = inPath("id", "The id of the task.", z.string());
const POLLING: readonly HeaderName[] = ["RateLimit", "RateLimit-Policy"];
const shared = { tag: "Videos", face: "video" } as const;

const TASK_EVENTS = VIDEO_STATUSES.map((status) => ({
  name: `video.generation.${status}`,
  description: status === "pending" ? "The task is not at its end yet" : "The end of the task",
  data: VideoTask,
}));

/** What OpenAI's clients send to change a video. */
const CHANGE = { isAny: true, isRequired: false } as const;
const REFUSED = "For clients of OpenAI's video API, which has ended. Always an error, whose message names the models " +
  "that take a video as reference, and edit or extend it in a create of its own.";

/** The endpoints of video tasks. */
export const VIDEO_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "createVideo",
    summary: "Create a task",
    description: "The mode follows from the references. The highest cost is held until the task ends.",
    parameters: [DRY_RUN, IDEMPOTENCY_KEY],
    body: {
      json: VideoCreate,
      form: VideoCreateForm,
      examples: {
        "A text": {
          model: "sandbox/video-1",
          prompt: "A lighthouse at dusk",
          duration: 4,
          metadata: { order: "A-17" },
        },
      },
    },
    replies: {
      200: { description: "With `X-Service-Dry-Run: true`", json: DryRun, headers: ["X-Service-Dropped"] },
      202: {
        description: "The new task; OpenAI's libraries get the whole task",
        json: CreatedVideo,
        headers: ["X-Service-Dropped", "Idempotent-Replayed"],
      },
    },
    errors: PAID_ERRORS,
  },
  {
    ...shared,
    id: "listVideos",
    summary: "List the key's own tasks",
    description: "`metadata.<key>` selects by a pair of the metadata.",
    parameters: [
      inQuery("status", "Only tasks of this status.", z.enum(VIDEO_STATUSES)),
      inQuery("model", "Only tasks of this model, by any of its names.", z.string()),
      inQuery("order", "Newest first by default.", z.enum(["desc", "asc"])),
      inQuery("after", "The `next` of the page before.", z.string()),
      inQuery("limit", "The most tasks of a page.", z.int().min(1).max(100).default(20)),
    ],
    replies: { 200: { description: "A page", json: VideoList } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "listVideoModels",
    tag: "Models",
    summary: "List the models that make videos",
    auth: "optional",
    replies: {
      200: { description: "The models", json: VideoModelList, headers: ["ETag"] },
      304: { description: "Unchanged", headers: ["ETag"] },
    },
    errors: [],
  },
  {
    ...shared,
    id: "readVideo",
    summary: "Poll a task",
    parameters: [ID],
    replies: { 200: { description: "The task", json: AnyVideo, headers: POLLING } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "cancelVideo",
    summary: "Cancel a task, or remove one that has ended",
    parameters: [ID, inQuery("purge", "`true` removes a task that has ended.", z.literal("true"))],
    replies: {
      200: { description: "The cancelled task, or what was removed", json: z.union([AnyVideo, DeletedVideo]) },
    },
    errors: [400, 404, 409],
  },
  {
    ...shared,
    id: "streamVideoEvents",
    summary: "Follow a task as a stream of events",
    parameters: [ID, LAST_EVENT_ID],
    replies: {
      200: { description: "The states as they change", other: [sse(TASK_EVENTS)], headers: POLLING },
      204: { description: "The last event was the end", headers: POLLING },
    },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "readVideoContent",
    summary: "Go to a result",
    parameters: [
      ID,
      inQuery("index", "Which of several results.", z.int().min(0).max(99).default(0)),
      inQuery("variant", "A picture in place of the video.", z.enum(["video", "thumbnail", "last_frame"])),
    ],
    replies: { 302: { description: "The signed address of the result", headers: ["Location"] } },
    errors: [400, 404, 429],
  },
  {
    ...shared,
    id: "remixVideo",
    summary: "Name the models that edit or extend videos",
    description: `${REFUSED} The task must be completed.`,
    parameters: [ID],
    body: CHANGE,
    replies: {},
    errors: [400, 404],
  },
  {
    ...shared,
    id: "editVideo",
    summary: "Name the models that edit videos",
    description: REFUSED,
    body: CHANGE,
    replies: {},
    errors: [400],
  },
  {
    ...shared,
    id: "extendVideo",
    summary: "Name the models that extend videos",
    description: REFUSED,
    body: CHANGE,
    replies: {},
    errors: [400],
  },
  {
    ...shared,
    id: "createVideoCharacter",
    summary: "Name the models that take videos as references",
    description: REFUSED,
    body: CHANGE,
    replies: {},
    errors: [400],
  },
  {
    ...shared,
    id: "listVideoDeliveries",
    tag: "Webhooks",
    summary: "Read the delivery of a task's event",
    parameters: [ID],
    replies: { 200: { description: "One delivery with its attempts, or none", json: WebhookDeliveryList } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "redeliverVideo",
    tag: "Webhooks",
    summary: "Deliver a task's event again",
    parameters: [ID],
    replies: { 202: { description: "The delivery, pending again", json: WebhookDelivery } },
    errors: [404, 409],
  },
  {
    ...shared,
    id: "readFile",
    tag: "Files",
    summary: "Read a copy of a result",
    description: "The signature of the address stands for a key.",
    auth: "none",
    parameters: [
      inPath("name", "The name of the file.", z.string()),
      { ...inQuery("expires", "Unix seconds.", z.int()), isRequired: true },
      { ...inQuery("signature", "Signs the address.", z.string()), isRequired: true },
      { in: "header", name: "Range", description: "A part of the file.", schema: z.string() },
      { in: "header", name: "If-Range", description: "The entity tag for `Range`.", schema: z.string() },
      { in: "header", name: "If-None-Match", description: "The entity tag of the caller's copy.", schema: z.string() },
    ],
    replies: {
      200: { description: "The whole file", other: [{ mediaType: "*/*" }], headers: ["ETag"] },
      206: { description: "A part of the file", other: [{ mediaType: "*/*" }], headers: ["ETag"] },
      304: { description: "Unchanged", headers: ["ETag"] },
      307: { description: "The file's address in its bucket", headers: ["Location"] },
    },
    errors: [403, 404, 416, 503],
  },
  {
    ...shared,
    id: "acceptVendorCallback",
    summary: "Accept a vendor's report of a change",
    description: "For vendors. The gateway polls the task soon.",
    auth: "none",
    parameters: [ID, {
      ...inQuery("token", "Proves that the address was given to a vendor.", z.string()),
      isRequired: true,
    }],
    body: { isAny: true, isRequired: false },
    replies: { 200: { description: "Accepted", json: z.object({ challenge: z.string().optional() }) } },
    errors: [404],
  },
];
