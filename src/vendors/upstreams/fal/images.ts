import * as z from "zod";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { UpstreamFailure } from "../call/failure.ts";
import { editWithoutMask } from "../shared/images/image_edit.ts";
import { type ImageJobParts, type ImageProgress, startImageJob, waitForImages } from "../shared/images/image_job.ts";
import { generatedImageOf } from "../shared/images/image_reply.ts";
import { nearestRatio, pixelsOf, withinArea } from "../shared/images/image_size.ts";
import type { ImageOrder, ImageOutcome, ImageUpstream } from "../contract/image_upstream.ts";
import { dataUriOf, jsonBody } from "../contract/inline_file.ts";
import type { JsonRequestOptions, Outbound } from "../call/outbound_call.ts";
import { type FalImageEndpoint, type FalImageInputs, imageEndpointFor } from "./image_inputs.ts";
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

/** Images on fal's queue. Source: fal documentation, "Queue API"; the schemas of each model. */

const text = z.string().nullish().catch(null);
const pixelCount = z.int().positive().nullish().catch(null);
const flags = z.array(z.boolean()).nullish().catch(null);

const File = z.object({ url: text, content_type: text, width: pixelCount, height: pixelCount });
const Listed = File.or(z.string().transform((url) => ({ url, content_type: null, width: null, height: null })));

const Result = z.object({
  images: z.array(Listed).nullish().catch(null),
  image: Listed.nullish().catch(null),
  has_nsfw_concepts: flags,
  nsfw_content_detected: flags,
});

/**
 * Creates the image upstream for fal. Each image is a queue job, which can be cancelled.
 *
 * @param clock Used for the pauses between polls.
 */
export function falImages(outbound: Outbound, clock: Clock): ImageUpstream {
  const generate: ImageUpstream["generate"] = async (order, call) => {
    const parts: ImageJobParts = { outbound, clock, call, readError: readRefusal, resentStatuses: RESENT_STATUSES };
    const endpoint = endpointOf(order, outbound);
    const created = await startImageJob(
      parts,
      `/${encodeURI(endpoint.path)}`,
      bodyOf(order, endpoint.inputs),
      readSubmission,
    );
    const path = jobPathOf(outbound, created, endpoint.path);
    return await waitForImages({
      progress: { status: "pending" },
      poll: (extras) => progressOf(outbound, path, extras),
      cancel: (extras) => outbound.json("PUT", `${path}/cancel`, null, () => {}, { ...extras, parse: () => null }),
    }, parts);
  };
  return {
    generate,
    edit: editWithoutMask(outbound, generate),
    stream: null,
    maxPerCall: 1,
    sentOptions(order) {
      const inputs = imageEndpointFor(order.model, order.images.length)?.inputs ?? {};
      return [
        ...(inputs.formats?.includes(order.outputFormat ?? "") ? ["output_format" as const] : []),
        ...(inputs.backgrounds?.includes(order.background ?? "") ? ["background" as const] : []),
      ];
    },
  };
}

function endpointOf({ model, images }: ImageOrder, outbound: Outbound): FalImageEndpoint {
  const endpoint = imageEndpointFor(model, images.length);
  if (endpoint !== null) return endpoint;
  const reason = ["requires an input image", "does not support input images"][images.length] ??
    "supports at most one input image";
  throw outbound.failure("invalid", `"${model}" ${reason}`, { field: "image" });
}

function bodyOf(order: ImageOrder, inputs: FalImageInputs) {
  const { prompt, images, quality, outputFormat, background } = order;
  const uris = images.map(dataUriOf);
  return jsonBody({
    prompt,
    ...(uris.length > 0 && (inputs.images ? { [inputs.images]: uris } : { [inputs.image!]: uris[0] })),
    ...shapeFor(order, inputs),
    ...(inputs.takesCount && { num_images: 1 }),
    ...(outputFormat !== null && inputs.formats?.includes(outputFormat) && { output_format: outputFormat }),
    ...(inputs.qualities?.includes(quality) && { quality }),
    ...(background !== null && inputs.backgrounds?.includes(background) && { background }),
  });
}

/** The maximum number of pixels of an edit without a size, because prices are per megapixel. */
const MAX_AUTO_PIXELS = 2 * 1_048_576;
const GRAIN = 32;

function shapeFor({ size, images }: ImageOrder, { takesPixels, sizes, ratios }: FalImageInputs) {
  const pixels = pixelsOf(size);
  if (takesPixels) {
    if (pixels !== null) return { image_size: pixels };
    const [first] = images;
    return first === undefined ? {} : { image_size: withinArea(first, MAX_AUTO_PIXELS, GRAIN) };
  }
  if (pixels === null) return {};
  return {
    ...(sizes && { image_size: nearestRatio(pixels, sizes) }),
    ...(ratios && { aspect_ratio: nearestRatio(pixels, ratios) }),
  };
}

async function progressOf(outbound: Outbound, path: string, extras: JsonRequestOptions): Promise<ImageProgress> {
  const response = await outbound.json("GET", `${path}/status`, null, readStatus, extras);
  const { status, error, error_type } = response;
  if (status.toUpperCase() !== "COMPLETED") return { status: "pending" };
  if (!error) return await resultOf(outbound, path, extras);
  const isForbidden = isRefusal(error_type ?? null);
  const facts = { vendorCode: error_type ?? undefined, isContentRefusal: isForbidden };
  return { status: "failed", failure: outbound.failure(isForbidden ? "invalid" : "unavailable", error, facts) };
}

/** The queue status `COMPLETED` does not imply success. The status of the result response decides. */
async function resultOf(outbound: Outbound, path: string, extras: JsonRequestOptions): Promise<ImageProgress> {
  try {
    return await outbound.json("GET", path, null, (body) => readResult(body, outbound), extras);
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFailure)) throw thrown;
    if (isResultPending(thrown)) return { status: "pending" };
    if (isJobFailure(thrown)) return { status: "failed", failure: thrown };
    throw thrown;
  }
}

const CONTENT_REJECTED = "The image was rejected by the vendor's content check";

/** An image that the content check forbids is black and reported as a success. */
function readResult(body: unknown, outbound: Outbound): ImageProgress {
  const { images, image, has_nsfw_concepts, nsfw_content_detected } = Result.parse(body);
  const files = [...images ?? [], ...image ? [image] : []];
  const rejectedFlags = has_nsfw_concepts ?? nsfw_content_detected ?? [];
  const accepted = files.filter((_, nth) => !rejectedFlags[nth]);
  const generated = accepted.map(({ url, content_type }) => generatedImageOf({ url }, content_type ?? null))
    .filter((each) => each !== null);
  if (generated.length > 0) {
    const [first] = accepted;
    const size = first?.width && first.height ? `${first.width}x${first.height}` : null;
    const outcome: ImageOutcome = { createdAt: null, images: generated, size, quality: null, consumption: null };
    return { status: "completed", outcome };
  }
  const failure = rejectedFlags.includes(true)
    ? outbound.failure("invalid", CONTENT_REJECTED, { vendorCode: "has_nsfw_concepts", isContentRefusal: true })
    : outbound.failure("broken", "", { accepted: "unknown" });
  return { status: "failed", failure };
}
