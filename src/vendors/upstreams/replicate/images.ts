import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { editWithoutMask } from "../shared/images/image_edit.ts";
import { type ImageJobParts, type ImageProgress, startImageJob, waitForImages } from "../shared/images/image_job.ts";
import { generatedImageOf } from "../shared/images/image_reply.ts";
import { nearestRatio, pixelsOf } from "../shared/images/image_size.ts";
import type { GeneratedImage, ImageOrder, ImageOutcome, ImageUpstream } from "../contract/image_upstream.ts";
import { type InlineFile, jsonBody } from "../contract/inline_file.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { imageInput } from "./files.ts";
import { imageInputsOf, type ReplicateImageInputs } from "./image_inputs.ts";
import {
  isRefusal,
  type Prediction,
  predictionPathOf,
  readPrediction,
  readReplicateError,
  RESULT_DELETED,
  targetOf,
} from "./prediction.ts";

/**
 * The time that the vendor delays the creation response, so that fast models need no poll. The vendor's maximum is a
 * minute.
 */
const WAIT_SECONDS = 30;
const MIN_DEADLINE_SECONDS = 5;

/**
 * Creates the image upstream for Replicate. Each image is a prediction with the deadline of the call, so that the
 * vendor ends a lost prediction. Source: Replicate HTTP API reference, "Create a prediction" (`Prefer`,
 * `Cancel-After`).
 *
 * @param clock Used for the pauses between polls.
 */
export function replicateImages(outbound: Outbound, clock: Clock): ImageUpstream {
  const deadline = Math.max(Math.ceil(outbound.firstByteMs / 1_000), MIN_DEADLINE_SECONDS);
  const headers = { prefer: `wait=${WAIT_SECONDS}`, "cancel-after": `${deadline}s` };
  const generate: ImageUpstream["generate"] = async (order, call) => {
    const parts: ImageJobParts = { outbound, clock, call, readError: readReplicateError };
    const { path, fields } = targetOf(order.model);
    const inputs = imageInputsOf(order.model);
    checkImages(order, inputs, outbound);
    const images = await Promise.all(order.images.map((image) => imageInput(outbound, image, call.callerSignal)));
    const body = jsonBody({ ...fields, input: inputFor(order, inputs, images) });
    const prediction = await startImageJob(parts, path, body, readPrediction, headers);
    const jobPath = predictionPathOf(prediction.id);
    return await waitForImages({
      progress: progressOf(prediction, order, outbound),
      poll: (extras) =>
        outbound.json("GET", jobPath, null, (body) => progressOf(readPrediction(body), order, outbound), extras),
      cancel: (extras) => outbound.json("POST", `${jobPath}/cancel`, null, () => {}, { ...extras, parse: () => null }),
    }, parts);
  };
  return {
    generate,
    edit: editWithoutMask(outbound, generate),
    stream: null,
    maxPerCall: 1,
    sentOptions({ model, outputFormat, background }) {
      const inputs = imageInputsOf(model);
      return [
        ...(inputs.formats?.[outputFormat ?? ""] ? ["output_format" as const] : []),
        ...(inputs.backgrounds?.includes(background ?? "") ? ["background" as const] : []),
      ];
    },
  };
}

function inputFor(order: ImageOrder, inputs: ReplicateImageInputs, images: readonly (InlineFile | string)[]) {
  const { prompt, quality, background, outputFormat, size } = order;
  const pixels = pixelsOf(size);
  const canMatchInput = images.length > 0 && inputs.matchesInput;
  return {
    prompt,
    ...(images.length > 0 && (inputs.images ? { [inputs.images]: images } : { [inputs.image!]: images[0] })),
    ...(pixels !== null && inputs.ratios && { aspect_ratio: nearestRatio(pixels, inputs.ratios) }),
    ...(pixels === null && canMatchInput && { aspect_ratio: "match_input_image" }),
    ...(outputFormat !== null && inputs.formats?.[outputFormat] && { output_format: inputs.formats[outputFormat] }),
    ...(inputs.qualities?.includes(quality) && { quality }),
    ...(background !== null && inputs.backgrounds?.includes(background) && { background }),
  };
}

function checkImages({ model, images }: ImageOrder, inputs: ReplicateImageInputs, outbound: Outbound): void {
  const maxImages = inputs.images !== undefined ? Infinity : inputs.image !== undefined ? 1 : 0;
  if (images.length <= maxImages) return;
  const problem = maxImages === 0 ? "does not support input images" : "supports at most one input image";
  throw outbound.failure("invalid", `"${model}" ${problem}`, { field: "image" });
}

/** A prediction in the state `processing` can already contain its output. */
function progressOf(prediction: Prediction, order: ImageOrder, outbound: Outbound): ImageProgress {
  const { status, urls, error, isRemoved } = prediction;
  switch (status) {
    case "starting":
      return { status: "pending" };
    case "processing":
      return urls.length < order.count ? { status: "pending" } : outcomeOf(urls, outbound);
    case "succeeded":
      return outcomeOf(urls, outbound, urls.length === 0 && isRemoved ? RESULT_DELETED : "");
    case "failed": {
      const isForbidden = isRefusal(error);
      const failure = outbound.failure(isForbidden ? "invalid" : "unavailable", error, {
        isContentRefusal: isForbidden,
      });
      return { status: "failed", failure };
    }
    case "canceled":
    case "aborted":
      return {
        status: "failed",
        failure: outbound.failure("unavailable", `The prediction ended with the status ${status}`),
      };
    default:
      return { status: "pending" };
  }
}

function outcomeOf(urls: readonly string[], outbound: Outbound, message = ""): ImageProgress {
  const images = urls.map((url) => generatedImageOf({ url }, null)).filter((image): image is GeneratedImage =>
    image !== null
  );
  if (images.length === 0) {
    return { status: "failed", failure: outbound.failure("broken", message, { accepted: "unknown" }) };
  }
  const outcome: ImageOutcome = { createdAt: null, images, size: null, quality: null, consumption: null };
  return { status: "completed", outcome };
}
