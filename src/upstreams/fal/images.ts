import * as z from "zod";
import type { Clock } from "../../lib/clock.ts";
import { UpstreamFailure } from "../failure.ts";
import { editWithoutMask } from "../image_edit.ts";
import { type ImageJobParts, type ImageProgress, startImageJob, waitForImages } from "../image_job.ts";
import { generatedImageOf } from "../image_reply.ts";
import { nearestRatio, pixelsOf, withinArea } from "../image_size.ts";
import type { ImageOrder, ImageOutcome, ImageUpstream } from "../image_upstream.ts";
import { dataUriOf, jsonBody } from "../json_body.ts";
import type { JsonRequestOptions, Outbound } from "../outbound_call.ts";
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
const side = z.int().positive().nullish().catch(null);
const flags = z.array(z.boolean()).nullish().catch(null);

const File = z.object({ url: text, content_type: text, width: side, height: side });
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
  const make: ImageUpstream["generate"] = async (order, call) => {
    const parts: ImageJobParts = { outbound, clock, call, readError: readRefusal, resentStatuses: RESENT_STATUSES };
    const endpoint = endpointOf(order, outbound);
    const created = await startImageJob(
      parts,
      `/${encodeURI(endpoint.path)}`,
      bodyOf(order, endpoint.inputs),
      readSubmission,
    );
    const place = jobPathOf(outbound, created, endpoint.path);
    return await waitForImages({
      progress: { status: "pending" },
      poll: (extras) => progressOf(outbound, place, extras),
      cancel: (extras) => outbound.json("PUT", `${place}/cancel`, null, () => {}, { ...extras, parse: () => null }),
    }, parts);
  };
  return {
    generate: make,
    edit: editWithoutMask(outbound, make),
    stream: null,
    maxPerCall: 1,
  };
}

function endpointOf({ model, images }: ImageOrder, outbound: Outbound): FalImageEndpoint {
  const endpoint = imageEndpointFor(model, images.length);
  if (endpoint !== null) return endpoint;
  const what = ["requires an input image", "does not support input images"][images.length] ??
    "supports at most one input image";
  throw outbound.failure("invalid", `"${model}" ${what}`, { field: "image" });
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
  const asked = pixelsOf(size);
  if (takesPixels) {
    if (asked !== null) return { image_size: asked };
    const [first] = images;
    return first === undefined ? {} : { image_size: withinArea(first, MAX_AUTO_PIXELS, GRAIN) };
  }
  if (asked === null) return {};
  return {
    ...(sizes && { image_size: nearestRatio(asked, sizes) }),
    ...(ratios && { aspect_ratio: nearestRatio(asked, ratios) }),
  };
}

async function progressOf(outbound: Outbound, place: string, extras: JsonRequestOptions): Promise<ImageProgress> {
  const answer = await outbound.json("GET", `${place}/status`, null, readStatus, extras);
  const { status, error, error_type } = answer;
  if (status.toUpperCase() !== "COMPLETED") return { status: "pending" };
  if (!error) return await resultOf(outbound, place, extras);
  const isForbidden = isRefusal(error_type ?? null);
  const facts = { vendorCode: error_type ?? undefined, isContentRefusal: isForbidden };
  return { status: "failed", failure: outbound.failure(isForbidden ? "invalid" : "unavailable", error, facts) };
}

/** The queue status `COMPLETED` does not imply success. The status of the result response decides. */
async function resultOf(outbound: Outbound, place: string, extras: JsonRequestOptions): Promise<ImageProgress> {
  try {
    return await outbound.json("GET", place, null, (body) => readResult(body, outbound), extras);
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
  const isBlack = has_nsfw_concepts ?? nsfw_content_detected ?? [];
  const shown = files.filter((_, nth) => !isBlack[nth]);
  const made = shown.map(({ url, content_type }) => generatedImageOf({ url }, content_type ?? null))
    .filter((each) => each !== null);
  if (made.length > 0) {
    const [first] = shown;
    const size = first?.width && first.height ? `${first.width}x${first.height}` : null;
    const outcome: ImageOutcome = { createdAt: null, images: made, size, quality: null, consumption: null };
    return { status: "completed", outcome };
  }
  const failure = isBlack.includes(true)
    ? outbound.failure("invalid", CONTENT_REJECTED, { vendorCode: "has_nsfw_concepts", isContentRefusal: true })
    : outbound.failure("broken", "", { accepted: "unknown" });
  return { status: "failed", failure };
}
