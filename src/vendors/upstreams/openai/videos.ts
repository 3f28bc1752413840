import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { Outbound, VendorRefusal } from "../call/outbound_call.ts";
import { reportedUsd } from "../shared/reported_cost.ts";
import { openStreamedResult } from "../shared/videos/streamed_result.ts";
import { MEDIA_REASON, PRICE_REASON } from "../shared/videos/refused_options.ts";
import { routedOptionIn } from "../shared/videos/seedance_prompt.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, progressOfStatus } from "../shared/videos/video_progress.ts";
import type {
  RefusedOptions,
  VideoJobHandle,
  VideoMedia,
  VideoOrder,
  VideoProgress,
  VideoResult,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import type { CreatedJob, PolledJob } from "./video_replies.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

const videoRepliesModule = new Late(() => import("./video_replies.ts"));

/**
 * The video API of OpenRouter, which other gateways share. OpenAI itself no longer has one. Source: OpenRouter API
 * reference, "Video Generation", and the types of `@openrouter/sdk` 1.3.19.
 */

/** A failed job has a message and no code: these words name content rules as the reason. */
const CONTENT_REFUSAL = /content[ _-]?(?:policy|filter|moderation|violation)|moderation|safety|sensitive|prohibited/i;

const SHAPE = 'it sets the shape of the video; use "aspect_ratio" or "size"';

/** Options of the router, and of the vendors behind it, which it passes on as `provider.options`. */
const REFUSED_OPTIONS: RefusedOptions = {
  aspectratio: SHAPE,
  ratio: SHAPE,
  creativity: PRICE_REASON,
  mode: PRICE_REASON,
  draft: PRICE_REASON,
  priority: PRICE_REASON,
  tools: PRICE_REASON,
  outputformat: PRICE_REASON,
  loras: PRICE_REASON,
  voicelist: PRICE_REASON,
  multiprompt: PRICE_REASON,
  previousjobid: "it names a job that may belong to another caller; send its video as a reference",
  frameimages: MEDIA_REASON,
  inputreferences: MEDIA_REASON,
  content: MEDIA_REASON,
  image: MEDIA_REASON,
  images: MEDIA_REASON,
  imageurl: MEDIA_REASON,
  imagelist: MEDIA_REASON,
  referenceimages: MEDIA_REASON,
  lastframe: MEDIA_REASON,
  keyframes: MEDIA_REASON,
  video: MEDIA_REASON,
  videourl: MEDIA_REASON,
  videolist: MEDIA_REASON,
  elementlist: MEDIA_REASON,
};

/**
 * Creates the video upstream for OpenRouter. The vendor cannot cancel a job. It returns no client-supplied identifier,
 * so a lost job cannot be found.
 */
export function openrouterVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readVideoError);
  const forms = ["url", "data_uri"] as const;
  return {
    // OpenRouter forwards images, and names no types for videos: those that nearly every vendor accepts are sent.
    mediaForms: { image: forms, audio: forms, video: forms },
    async create(order) {
      const { readCreated } = await videoRepliesModule.load();
      const created = await exchange.create("/videos", bodyOf(order), readCreated);
      return { id: created.id, place: placeOf(outbound, created) };
    },
    async poll(job) {
      const { readJob } = await videoRepliesModule.load();
      return await exchange.get(pathOf(job), (response) => progressOf(outbound, readJob(response)));
    },
    cancel: null,
    find: null,
    open: async (result, job) => await openContent(outbound, result, job),
    refusedOptions: REFUSED_OPTIONS,
    optionInPrompt: routedOptionIn,
  };
}

function pathOf({ id, place }: VideoJobHandle): string {
  return place ?? `/videos/${encodeURIComponent(id)}`;
}

/** Returns the path of `polling_url` if it is on the provider's own host and differs from the default; else null. */
function placeOf(outbound: Outbound, { id, polling_url }: CreatedJob): string | null {
  const path = polling_url ? outbound.pathOf(polling_url) : null;
  const isThisJob = path?.includes(encodeURIComponent(id)) ?? false;
  return isThisJob && path !== pathOf({ id, place: null }) ? path : null;
}

function bodyOf(order: VideoOrder): JsonObject {
  const { durationSeconds, resolution, aspectRatio, size, firstFrame, lastFrame, references } = order;
  const frames = [
    ...(firstFrame ? [{ ...partOf(firstFrame), frame_type: "first_frame" }] : []),
    ...(lastFrame ? [{ ...partOf(lastFrame), frame_type: "last_frame" }] : []),
  ];
  return {
    ...order.options,
    model: order.model,
    prompt: order.prompt,
    // If absent, the model decides.
    ...(durationSeconds !== null && durationSeconds > 0 && { duration: durationSeconds }),
    // A size includes resolution and ratio.
    ...(size !== null && { size: `${size.width}x${size.height}` }),
    ...(size === null && resolution !== null && { resolution }),
    ...(size === null && aspectRatio !== null && { aspect_ratio: aspectRatio }),
    ...(frames.length > 0 && { frame_images: frames }),
    ...(references.length > 0 && { input_references: references.map(partOf) }),
    ...(order.generateAudio !== null && { generate_audio: order.generateAudio }),
    ...(order.seed !== null && { seed: order.seed }),
    ...(order.callbackUrl !== null && { callback_url: order.callbackUrl }),
  };
}

function partOf({ medium, value }: VideoMedia): JsonObject {
  const type = `${medium}_url`;
  return { type, [type]: { url: value } };
}

/** OpenRouter's states and their equivalents at Ark. */
const STATUSES: Readonly<Record<string, string>> = {
  pending: "queued",
  in_progress: "running",
  completed: "succeeded",
};

function progressOf(outbound: Outbound, job: PolledJob): VideoProgress {
  return progressOfStatus(ownValue(STATUSES, job.status.toLowerCase()) ?? job.status, {
    succeeded: () => completed(outbound, job),
    failed: () => failed(outbound, job.error ?? "", CONTENT_REFUSAL.test(job.error ?? "")),
  });
}

/** Results on the provider's own host need its key. The key is not sent to any other host. */
function completed(outbound: Outbound, { unsigned_urls, urls, usage }: PolledJob): VideoProgress {
  const listed = unsigned_urls?.length ? unsigned_urls : urls ?? [];
  const results = listed.filter((url) => url !== "").map((url) => resultAt(outbound, url));
  if (results.length === 0) return failed(outbound, "The vendor reported success without a result");
  return { status: "completed", results, consumption: { seconds: null, costUsd: reportedUsd(usage?.cost) } };
}

function resultAt(outbound: Outbound, url: string): VideoResult {
  // A URL without a host refers to the vendor.
  if (!URL.canParse(url)) return { url: null, needsCredential: true };
  return { url, needsCredential: outbound.pathOf(url) !== null };
}

function openContent(outbound: Outbound, { url }: VideoResult, { id }: VideoJobHandle) {
  const path = url === null ? `/videos/${encodeURIComponent(id)}/content` : outbound.pathOf(url);
  if (path === null) throw outbound.failure("invalid", "The result URL is not on the provider's host");
  return openStreamedResult(outbound, { path, url }, readVideoError);
}

function readVideoError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  return isModerated(body) ? { ...error, kind: "invalid", isContentRefusal: true } : error;
}

/** Whether an error has the fields of a moderation refusal. The status 403 is also that of a missing permission. */
function isModerated(body: unknown): boolean {
  const metadata = isObject(body) && isObject(body.error) ? body.error.metadata : null;
  if (!isObject(metadata)) return false;
  const { flagged_input, reasons } = metadata;
  return typeof flagged_input === "string" || (Array.isArray(reasons) && reasons.length > 0);
}
