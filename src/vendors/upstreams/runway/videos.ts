import * as z from "zod";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { Outbound, VendorRefusal } from "../call/outbound_call.ts";
import { reportedUsd } from "../shared/reported_cost.ts";
import { MEDIA_REASON, PRICE_REASON } from "../shared/videos/refused_options.ts";
import { routedOptionIn } from "../shared/videos/seedance_prompt.ts";
import { vendorId } from "../shared/vendor_id.ts";
import { type VideoExchange, videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import type {
  CancelOutcome,
  RefusedOptions,
  VideoJobHandle,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import { type RunwayModel, runwayModel } from "./models.ts";
import { dropsRatio, shapeFields } from "./shape.ts";

/**
 * Runway's videos. Source: Runway API reference, "Text to video", "Image to video", "Tasks", "Handle Task Failures".
 */

/** The price of a credit. Source: Runway API documentation, "Pricing". */
const USD_PER_CREDIT = 0.01;

const REFUSED_OPTIONS: RefusedOptions = {
  ratio: 'it sets the resolution of the video; use "resolution", "aspect_ratio" or "size"',
  targetaspectratio: 'it sets the shape of the video; use "aspect_ratio" or "size"',
  outputformat: PRICE_REASON,
  proresprofile: PRICE_REASON,
  mode: PRICE_REASON,
  promptimage: MEDIA_REASON,
  promptvideo: MEDIA_REASON,
  videouri: MEDIA_REASON,
  keyframes: MEDIA_REASON,
  references: MEDIA_REASON,
  referenceimages: MEDIA_REASON,
  referencevideos: MEDIA_REASON,
  referenceaudio: MEDIA_REASON,
};

const text = z.string().nullish().catch(null);

const Created = z.object({ id: vendorId });

const Task = z.object({
  status: z.string(),
  progress: z.number().min(0).max(1).nullish().catch(null),
  output: z.array(z.string()).nullish().catch(null),
  failure: text,
  failureCode: text,
  cost: z.object({ credits: z.number().nullish() }).nullish().catch(null),
});

const Issues = z.object({
  issues: z.array(z.object({ message: z.string(), path: z.array(z.string().or(z.number())).default([]) })).min(1),
});

/**
 * Creates the video upstream for Runway. It cancels pending and running jobs. The vendor returns no client-supplied
 * identifier, so a lost job cannot be found.
 */
export function runwayVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readRunwayError);
  const poll = (job: VideoJobHandle) => exchange.get(pathOf(job), (response) => progressOf(outbound, response));
  const forms = ["url", "data_uri"] as const;
  return {
    mediaForms: { image: forms, audio: forms, video: forms },
    async create(order) {
      const body = bodyOf(outbound, order, runwayModel(order.model));
      const path = order.firstFrame === null ? "/v1/text_to_video" : "/v1/image_to_video";
      const { id } = await exchange.create(path, body, (response) => Created.parse(response));
      return { id, place: null };
    },
    poll,
    cancel: (job) => cancel(exchange, job, poll),
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    optionInPrompt: routedOptionIn,
    droppedFields: droppedOf,
    accountSchemes: ["runway:"],
    renewsUrls: true,
  };
}

function pathOf({ id }: VideoJobHandle): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

function bodyOf(outbound: Outbound, order: VideoOrder, model: RunwayModel): JsonObject {
  const { durationSeconds, generateAudio, seed, firstFrame, lastFrame } = order;
  const length = durationSeconds === -1 && model.takesAutoLength ? "auto" : durationSeconds;
  const frames = [
    ...(firstFrame ? [{ uri: firstFrame.value, position: "first" }] : []),
    ...(lastFrame ? [{ uri: lastFrame.value, position: "last" }] : []),
  ];
  return {
    ...order.options,
    model: order.model,
    promptText: order.prompt,
    ...(length !== null && length !== -1 && { duration: length }),
    ...shapeFields(outbound, order, model),
    ...(frames.length > 0 && { promptImage: frames }),
    ...referencesOf(order),
    ...(generateAudio !== null && model.takesAudio && { audio: generateAudio }),
    ...(seed !== null && model.takesSeed && { seed }),
  };
}

function referencesOf({ references }: VideoOrder): JsonObject {
  const of = (medium: string) => references.filter((media) => media.medium === medium).map(({ value }) => value);
  const [images, videos, audios] = [of("image"), of("video"), of("audio")];
  return {
    ...(images.length > 0 && { references: images.map((uri) => ({ uri })) }),
    ...(videos.length > 0 && { referenceVideos: videos.map((uri) => ({ type: "video", uri })) }),
    ...(audios.length > 0 && { referenceAudio: audios.map((uri) => ({ type: "audio", uri })) }),
  };
}

function droppedOf(order: VideoOrder): string[] {
  const model = runwayModel(order.model);
  return [
    ...(order.seed !== null && !model.takesSeed ? ["seed"] : []),
    ...(order.generateAudio !== null && !model.takesAudio ? ["generate_audio"] : []),
    ...(dropsRatio(order, model) ? ["aspect_ratio"] : []),
  ];
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const { status, progress, output, failure, failureCode, cost } = Task.parse(response);
  switch (status.toUpperCase()) {
    case "PENDING":
    case "THROTTLED": // The account is at its concurrency limit: the task waits in the vendor's queue.
      return pending(false);
    case "RUNNING":
      return pending(true, progress == null ? {} : { progressPercent: Math.round(progress * 100) });
    case "SUCCEEDED": {
      const costUsd = reportedUsd((cost?.credits ?? 0) * USD_PER_CREDIT);
      return finished(outbound, output ?? [], { seconds: null, costUsd });
    }
    case "FAILED":
      return failed(outbound, failure || failureCode || "", /(?:^|\.)SAFETY(?:\.|$)/.test(failureCode ?? ""));
    case "CANCELLED":
    case "CANCELED":
      return { status: "cancelled" };
    default:
      return unknownStatus(status);
  }
}

/** DELETE cancels a pending task and deletes an ended one with its result, so the state is checked first. */
async function cancel(
  exchange: VideoExchange,
  job: VideoJobHandle,
  poll: (job: VideoJobHandle) => Promise<VideoProgress>,
): Promise<CancelOutcome> {
  const { status } = await poll(job);
  if (status === "cancelled") return "cancelled";
  if (status !== "pending") return "gone";
  try {
    await exchange.send("DELETE", pathOf(job));
  } catch (thrown) {
    // The vendor forgets cancelled tasks.
    if (!(thrown instanceof UpstreamFailure) || thrown.facts.status !== 404) throw thrown;
  }
  return "cancelled";
}

/** Reads an error body, `{error, issues}`. The message contains the first issue and its path. */
function readRunwayError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  const [issue] = Issues.safeParse(body).data?.issues ?? [];
  if (issue === undefined) return error;
  const place = issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  return { ...error, message: `${error.message}: ${place}${issue.message}` };
}
