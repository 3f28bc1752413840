import * as z from "zod";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { UpstreamFailure } from "../call/failure.ts";
import { editWithoutMask } from "../shared/images/image_edit.ts";
import { type ImageJobParts, type ImageProgress, startImageJob, waitForImages } from "../shared/images/image_job.ts";
import type { ImageOrder, ImageOutcome, ImageUpstream } from "../contract/image_upstream.ts";
import { base64Of, jsonBody } from "../contract/inline_file.ts";
import type { JsonRequestOptions, Outbound } from "../call/outbound_call.ts";
import { inputsOf, isTooLarge, shapeFor, sizeOf } from "./inputs.ts";

/** FLUX at Black Forest Labs. Source: BFL API reference, "Image generation", "Get result", "Errors". */

const text = z.string().nullish().catch(null);

const Created = z.object({ id: z.string().min(1), polling_url: text });

const Result = z.object({
  status: z.string(),
  result: z.object({ sample: text }).nullish().catch(null),
  details: z.object({ "Moderation Reasons": z.array(z.string()).nullish().catch(null) }).nullish().catch(null),
});

/**
 * Creates the image upstream for FLUX. Each image is a job, which cannot be cancelled. Source: BFL API reference.
 *
 * @param clock Used for the pauses between polls.
 */
export function bflImages(outbound: Outbound, clock: Clock): ImageUpstream {
  const generate: ImageUpstream["generate"] = async (order, call) => {
    const parts: ImageJobParts = { outbound, clock, call, readError: chat.upstream.readError };
    const { body, size } = requestFor(order, outbound);
    const created = await startImageJob(
      parts,
      `/${encodeURI(order.model)}`,
      body,
      (response) => Created.parse(response),
    );
    const send = pollerFor(created, outbound);
    const poll = (extras: JsonRequestOptions) =>
      send(extras, (response) => progressOf(response, order, size, outbound));
    return await waitForImages({ progress: { status: "pending" }, poll, cancel: null }, parts);
  };
  return {
    generate,
    edit: editWithoutMask(outbound, generate),
    stream: null,
    maxPerCall: 1,
    sentOptions: ({ outputFormat }) => isSentFormat(outputFormat) ? ["output_format"] : [],
  };
}

function requestFor(order: ImageOrder, outbound: Outbound) {
  const inputs = inputsOf(order.model);
  const { image, maxImages } = inputs;
  const { images, outputFormat } = order;
  if (images.length > maxImages) {
    const message = `Too many images: expected at most ${maxImages}, got ${images.length}`;
    throw outbound.failure("invalid", message, { field: "image" });
  }
  const tooLarge = images.find((each) => isTooLarge(each, inputs));
  if (tooLarge !== undefined) {
    const size = `${tooLarge.width}x${tooLarge.height}`;
    const message = `The image is too large: expected at most ${inputs.maxImagePixels} pixels, got ${size}`;
    throw outbound.failure("invalid", message, { field: "image" });
  }
  const shape = shapeFor(order, inputs);
  const body = jsonBody({
    prompt: order.prompt,
    ...Object.fromEntries(images.map((each, nth) => [nth === 0 ? image : `${image}_${nth + 1}`, base64Of(each)])),
    ...shape,
    ...(isSentFormat(outputFormat) && { output_format: outputFormat }),
  });
  return { body, size: sizeOf(shape) };
}

/** The domains of the vendor's regional hosts. */
const DOMAINS = ["bfl.ai", "bfl.ml"];

/**
 * Returns where to poll a job: at the region in `polling_url` if it is one of the vendor's hosts, else at the base URL.
 */
function pollerFor({ id, polling_url }: z.infer<typeof Created>, outbound: Outbound) {
  const own = polling_url ? outbound.pathOf(polling_url) : null;
  const region = polling_url && own === null ? outbound.siblingHost(polling_url, DOMAINS) : null;
  const client = region?.outbound ?? outbound;
  const path = region?.path ?? own ?? `/get_result?id=${encodeURIComponent(id)}`;
  return <T>(extras: JsonRequestOptions, read: (response: unknown) => T) =>
    client.json("GET", path, null, read, extras);
}

function progressOf(body: unknown, order: ImageOrder, size: string | null, outbound: Outbound): ImageProgress {
  const { status, result, details } = Result.parse(body);
  switch (status.toLowerCase()) {
    case "ready":
      return result?.sample
        ? { status: "completed", outcome: outcomeOf(result.sample, order, size) }
        : failedWith(outbound.failure("broken", "", { accepted: "unknown" }));
    case "request moderated":
    case "content moderated": {
      const reasons = details?.["Moderation Reasons"] ?? [];
      const message = reasons.length === 0 ? status : `${status}: ${reasons.join(", ")}`;
      return failedWith(outbound.failure("invalid", message, { vendorCode: status, isContentRefusal: true }));
    }
    case "error":
    case "failed":
      return failedWith(outbound.failure("unavailable", "", { vendorCode: status }));
    case "task not found":
      // Regions replicate jobs with a delay, so the job is polled again.
      throw outbound.failure("invalid", "The vendor did not find the job", { accepted: "unknown" });
    default: // Pending, Reasoning, Generating and future states.
      return { status: "pending" };
  }
}

function failedWith(failure: UpstreamFailure): ImageProgress {
  return { status: "failed", failure };
}

function outcomeOf(url: string, { outputFormat }: ImageOrder, size: string | null): ImageOutcome {
  const mediaType = isSentFormat(outputFormat) ? `image/${outputFormat}` : null;
  return {
    createdAt: null,
    images: [{ result: { kind: "url", url }, mediaType }],
    size,
    quality: null,
    consumption: null,
  };
}

function isSentFormat(format: string | null): boolean {
  return format === "png" || format === "jpeg";
}
