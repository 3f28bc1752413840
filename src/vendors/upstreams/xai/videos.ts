import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, failedWith, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type {
  RefusedOptions,
  VideoMedia,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import { readCostUsd } from "./cost.ts";
import { isXaiRefusal, readXaiError } from "./refusal.ts";

/** Grok Imagine video. Source: xAI API reference, "Video generations". */

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "480p", shortSide: 480 },
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3"],
};

const text = z.string().nullish().catch(null);

const Created = z.object({ request_id: z.string().min(1) });

const Job = z.object({
  status: text,
  video: z.object({
    url: text,
    duration: z.number().nonnegative().nullish().catch(null),
    respect_moderation: z.boolean().nullish().catch(null),
  }).nullish().catch(null),
  progress: z.number().min(0).max(100).nullish().catch(null),
  error: z.object({ code: text, message: text }).nullish().catch(null),
});

const CHARGED_MEDIA_REASON =
  'it is an input of the video, and each image is charged; use "frame_images" or "input_references"';

/** Source: xAI API reference, "Video generations", and its price list: each image is charged. */
const REFUSED_OPTIONS: RefusedOptions = {
  image: CHARGED_MEDIA_REASON,
  images: CHARGED_MEDIA_REASON,
  imageurl: CHARGED_MEDIA_REASON,
  lastframe: CHARGED_MEDIA_REASON,
  keyframes: CHARGED_MEDIA_REASON,
  referenceimages: CHARGED_MEDIA_REASON,
  referenceaudios: CHARGED_MEDIA_REASON,
  video: CHARGED_MEDIA_REASON,
  videourl: CHARGED_MEDIA_REASON,
};

/** Source: xAI documentation, "Text to speech", "Voices". */
const VOICES: readonly unknown[] = ["ara", "eve", "leo", "rex", "sal"];

/**
 * Creates the video upstream for xAI. The vendor cannot cancel a job. It returns no client-supplied identifier, so a
 * lost job cannot be found.
 */
export function xaiVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readXaiError);
  return {
    mediaForms: { image: ["url", "data_uri"], audio: ["url", "data_uri"], video: [] },
    async create(order) {
      const body = bodyOf(outbound, order);
      const { request_id } = await exchange.create("/videos/generations", body, (response) => Created.parse(response));
      return { id: request_id, place: null };
    },
    async poll({ id }) {
      try {
        return await exchange.get(`/videos/${encodeURIComponent(id)}`, (response) => progressOf(outbound, response));
      } catch (thrown) {
        // A moderation refusal can be a 400 response to a poll.
        if (thrown instanceof UpstreamFailure && thrown.facts.isContentRefusal) return failedWith(thrown);
        throw thrown;
      }
    },
    cancel: null,
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    droppedFields: ({ seed }) => seed === null ? [] : ["seed"],
    // Result URLs are signed for hours.
    resultLifetimeMs: 3_600_000,
  };
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { firstFrame, lastFrame } = order;
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const images = urlObjectsOf(order, "image");
  const { reference_voice_ids: voices, ...options } = order.options;
  const audios = [...urlObjectsOf(order, "audio"), ...voicesOf(outbound, voices)];
  return {
    ...options,
    model: order.model,
    prompt: order.prompt,
    ...(order.durationSeconds !== null && { duration: order.durationSeconds }),
    ...(resolution !== null && { resolution }),
    ...(ratio !== null && { aspect_ratio: ratio }),
    ...(firstFrame !== null && { image: { url: firstFrame.value } }),
    ...(lastFrame !== null && { last_frame: { url: lastFrame.value } }),
    ...(images.length > 0 && { reference_images: images }),
    ...(audios.length > 0 && { reference_audios: audios }),
    // Audio is the default, and not every model has the field.
    ...(order.generateAudio === false && { generate_audio: false }),
  };
}

/** The vendor's own voices are sent in the same list as audio clips. Custom voices belong to the operator. */
function voicesOf(outbound: Outbound, names: unknown): JsonObject[] {
  if (names === undefined || names === null) return [];
  if (Array.isArray(names) && names.every((name) => VOICES.includes(name))) {
    return names.map((id) => ({ voice_id: id }));
  }
  throw outbound.failure("invalid", `Invalid "reference_voice_ids": expected a list of ${VOICES.join(", ")}`, {
    field: "provider.options",
  });
}

function urlObjectsOf({ references }: VideoOrder, medium: VideoMedia["medium"]): JsonObject[] {
  return references.filter((media) => media.medium === medium).map(({ value }) => ({ url: value }));
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  // A pending job is a 202, sometimes without a body.
  if (response === null) return pending(null);
  const { status, video, progress, error } = Job.parse(response);
  switch (status?.toLowerCase() ?? (video?.url ? "done" : "")) {
    case "pending":
      return pending(null, progress == null ? {} : { progressPercent: progress });
    case "done":
      // The vendor reports a refusal as a success without a URL, with or without this field.
      if (video?.respect_moderation === false) return failed(outbound, REFUSED, true);
      return finished(outbound, [video?.url], {
        seconds: video?.duration ?? null,
        costUsd: readCostUsd(response),
      });
    case "failed": {
      const message = error?.message || error?.code || "";
      return failed(outbound, message, isXaiRefusal(message));
    }
    case "expired":
      return { status: "expired" };
    default:
      return unknownStatus(status ?? "");
  }
}

const REFUSED = "The video was rejected by the vendor's content moderation";
