import type { Outbound } from "../call/outbound_call.ts";
import { bodyOf, droppedOf } from "../shared/videos/named_inputs.ts";
import { UpstreamFailure } from "../call/failure.ts";
import { MEDIA_REASON, PRICE_REASON, refusedFor } from "../shared/videos/refused_options.ts";
import { routedOptionIn } from "../shared/videos/seedance_prompt.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import type { RefusedOptions, VideoProgress, VideoUpstream } from "../contract/video_upstream.ts";
import { withUploads } from "./files.ts";
import {
  isRefusal,
  type Prediction,
  predictionPathOf,
  readPrediction,
  readReplicateError,
  RESULT_DELETED,
  targetOf,
} from "./prediction.ts";
import { videoInputsOf } from "./video_inputs.ts";

/** Source: Replicate, the input schemas of its video models. Kling's `mode` is its resolution. */
const REFUSED_OPTIONS: RefusedOptions = {
  mode: 'it sets the resolution of the video; use "resolution"',
  ...refusedFor(PRICE_REASON, [
    "multiprompt",
    "multishot",
    "interpolateoutput",
    "loras",
    "lora",
    "extralora",
    "loraweights",
  ]),
  ...refusedFor(MEDIA_REASON, [
    ...["image", "images", "startimage", "endimage", "firstframe", "firstframeimage", "lastframe", "lastframeimage"],
    ...["lastimage", "referenceimage", "referenceimages", "referencevideo", "referencevideos", "referenceaudio"],
    ...["referenceaudios", "subjectreference", "inputimage", "inputimages", "imageinput", "video", "videos", "mask"],
  ]),
};

/** The vendor deletes results after an hour. */
const RESULT_LIFE_MS = 3_600_000;

/**
 * Creates the video upstream for Replicate. The list of predictions contains no client-supplied identifier, so a lost
 * job cannot be distinguished from another caller's.
 */
export function replicateVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readReplicateError);
  return {
    mediaForms: { image: ["url", "data_uri"], audio: ["url", "data_uri"], video: ["url", "data_uri"] },
    async create(order) {
      const { path, fields } = targetOf(order.model);
      const body = {
        ...fields,
        input: bodyOf(outbound, await withUploads(outbound, order), videoInputsOf(order.model)),
        ...(order.callbackUrl !== null && { webhook: order.callbackUrl, webhook_events_filter: ["completed"] }),
      };
      return { id: (await exchange.create(path, body, readPrediction)).id, place: null };
    },
    poll: ({ id }) => exchange.get(predictionPathOf(id), (response) => progressOf(outbound, readPrediction(response))),
    async cancel({ id }) {
      try {
        await exchange.send("POST", `${predictionPathOf(id)}/cancel`);
      } catch (thrown) {
        if (thrown instanceof UpstreamFailure && thrown.facts.status === 404) return "gone";
        throw thrown;
      }
      // The response is the same for a running and an ended prediction.
      const { status } = await exchange.get(predictionPathOf(id), readPrediction);
      if (status === "canceled" || status === "aborted") return "cancelled";
      return status === "succeeded" || status === "failed" ? "gone" : "requested";
    },
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    optionInPrompt: routedOptionIn,
    droppedFields: (order) => droppedOf(order, videoInputsOf(order.model)),
    resultLifetimeMs: RESULT_LIFE_MS,
  };
}

function progressOf(outbound: Outbound, { status, urls, error, isRemoved, startedAt }: Prediction): VideoProgress {
  switch (status) {
    case "starting":
      return pending(false);
    case "processing":
      return pending(true, startedAt === null ? {} : { startedAt });
    case "succeeded":
      if (urls.length === 0 && isRemoved) return failed(outbound, RESULT_DELETED);
      return finished(outbound, urls, { seconds: null, costUsd: null });
    case "failed":
      return failed(outbound, error, isRefusal(error));
    case "canceled":
      return { status: "cancelled" };
    case "aborted": // A deadline passed before the start.
      return { status: "expired" };
    default:
      return unknownStatus(status);
  }
}
