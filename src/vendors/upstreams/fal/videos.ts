import { DEFAULT_IMAGE_TYPES } from "../../../platform/lib/media/media_type.ts";
import * as z from "zod";
import { UpstreamFailure } from "../call/failure.ts";
import { bodyOf, droppedOf } from "../shared/videos/named_inputs.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { routedOptionIn } from "../shared/videos/seedance_prompt.ts";
import { type VideoExchange, videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, failedWith, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import type { CancelOutcome, VideoJobHandle, VideoProgress, VideoUpstream } from "../contract/video_upstream.ts";
import { endpointFor } from "./inputs.ts";
import {
  isJobFailure,
  isRefusal,
  isResultPending,
  jobPathOf,
  readRefusal,
  readStatus,
  readSubmission,
  RESENT_STATUSES,
} from "./queue.ts";
import { REFUSED_OPTIONS } from "./refused_options.ts";

/** fal's queue. Source: fal documentation, "Queue API" (submit, status, result, cancel) and "Errors". */

const text = z.string().nullish().catch(null);

const File = z.object({ url: text, duration: z.number().nonnegative().nullish().catch(null) });

const Result = z.object({
  video: File.or(z.string().transform((url) => ({ url, duration: null }))).nullish().catch(null),
  videos: z.array(File).nullish().catch(null),
  thumbnail: File.nullish().catch(null),
  has_nsfw_concepts: z.array(z.boolean()).nullish().catch(null),
});

const FORMS = ["url", "data_uri"] as const;
/** Source: fal's model pages, "Accepted file types" of `image_url`, as of autumn 2026. */
const IMAGE_TYPES = [...DEFAULT_IMAGE_TYPES, "image/gif", "image/avif"];

/**
 * Creates the video upstream for fal. The vendor returns no client-supplied identifier, so a lost job cannot be found.
 */
export function falVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readRefusal, { resentStatuses: RESENT_STATUSES });
  return {
    mediaForms: { image: FORMS, imageTypes: IMAGE_TYPES, audio: FORMS, video: FORMS },
    async create(order) {
      const endpoint = endpointFor(order.model, order.mode);
      if (endpoint === null) {
        throw outbound.failure("invalid", `"${order.model}" does not support the mode ${order.mode}`);
      }
      const body = bodyOf(outbound, order, endpoint.inputs);
      const callback = order.callbackUrl === null ? "" : `?fal_webhook=${encodeURIComponent(order.callbackUrl)}`;
      const created = await exchange.create(`/${endpoint.path}${callback}`, body, readSubmission);
      return { id: created.request_id, place: jobPathOf(outbound, created, endpoint.path) };
    },
    poll: (job) => progressOf(outbound, exchange, placeIn(job)),
    cancel: (job) => cancel(exchange, placeIn(job)),
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    optionInPrompt: routedOptionIn,
    droppedFields(order) {
      const endpoint = endpointFor(order.model, order.mode);
      return endpoint === null ? [] : droppedOf(order, endpoint.inputs);
    },
  };
}

function placeIn({ id, place }: VideoJobHandle): string {
  if (place === null) throw new TypeError(`Cannot poll the fal job "${id}": its path is missing`);
  return place;
}

async function progressOf(outbound: Outbound, exchange: VideoExchange, place: string): Promise<VideoProgress> {
  const { status, queue_position, error, error_type } = await exchange.get(
    `${place}/status`,
    readStatus,
  );
  switch (status.toUpperCase()) {
    case "IN_QUEUE":
      return pending(false, { queuePosition: queue_position });
    case "IN_PROGRESS":
      return pending(true);
    case "COMPLETED":
      if (error) return failed(outbound, error, isRefusal(error_type ?? null));
      return await resultOf(outbound, exchange, place);
    default:
      return unknownStatus(status);
  }
}

/** The queue status `COMPLETED` does not imply success. The status of the result response decides. */
async function resultOf(outbound: Outbound, exchange: VideoExchange, place: string): Promise<VideoProgress> {
  try {
    return await exchange.get(place, (response) => {
      const { video, videos, thumbnail, has_nsfw_concepts } = Result.parse(response);
      const files = [video, ...videos ?? []];
      if (has_nsfw_concepts?.includes(true)) return failed(outbound, CONTENT_REJECTED, true);
      const seconds = files.find((file) => file?.duration)?.duration ?? null;
      return finished(outbound, files.map((file) => file?.url), { seconds, costUsd: null }, {
        thumbnail: thumbnail?.url ?? null,
      });
    });
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFailure)) throw thrown;
    if (isResultPending(thrown)) return pending(true);
    if (isJobFailure(thrown)) return failedWith(thrown);
    throw thrown;
  }
}

const CONTENT_REJECTED = "The video was rejected by the vendor's content check";

async function cancel(exchange: VideoExchange, place: string): Promise<CancelOutcome> {
  try {
    await exchange.send("PUT", `${place}/cancel`);
    // Most running jobs stop, but not all.
    return "requested";
  } catch (thrown) {
    const status = thrown instanceof UpstreamFailure ? thrown.facts.status : null;
    if (status === 400 || status === 404) return "gone";
    throw thrown;
  }
}
