import * as z from "zod";
import { editWithoutMask } from "../shared/images/image_edit.ts";
import { imageRequestOptions } from "../shared/images/image_request_options.ts";
import {
  consumptionOf,
  generatedImageOf,
  listedImage,
  NO_CONSUMPTION,
  tokenCount,
} from "../shared/images/image_reply.ts";
import { nearestRatio, pixelsOf } from "../shared/images/image_size.ts";
import type { ImageCall, ImageOrder, ImageOutcome, ImageUpstream } from "../contract/image_upstream.ts";
import { dataUriOf, jsonBody } from "../contract/inline_file.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { arkFailureKindOf, isArkRefusal, readArkError } from "./failure_kind.ts";

const Failure = z.object({ code: z.string().nullish(), message: z.string().nullish() });

const ResponseBody = z.object({
  created: z.number().nullish(),
  data: z.array(listedImage.extend({ size: z.string().nullish(), error: Failure.nullish() })).nullish(),
  usage: z.object({ output_tokens: tokenCount }).nullish(),
  error: Failure.nullish(),
});

/**
 * Seedream on Ark. A series from one call contains related images, not variants, so each call creates one image. The
 * vendor does not distinguish reference images from images to edit. Source: Ark API reference, "Image generation".
 */
export function arkImages(outbound: Outbound): ImageUpstream {
  const generate = (order: ImageOrder, call: ImageCall) =>
    outbound.json(
      "POST",
      "/images/generations",
      requestFor(order),
      (response) => readOutcome(response, order, outbound),
      imageRequestOptions(call, readArkError),
    );
  return {
    generate,
    edit: editWithoutMask(outbound, generate),
    stream: null, // The vendor's streams report complete images only.
    maxPerCall: 1,
    sentOptions: (order) => formatFor(order) === null ? [] : ["output_format"],
  };
}

function requestFor(order: ImageOrder) {
  const size = sizeFor(order);
  const format = formatFor(order);
  const images = order.images.map(dataUriOf);
  return jsonBody({
    model: order.model,
    prompt: order.prompt,
    ...(images.length > 0 && { image: images.length === 1 ? images[0] : images }),
    ...(size !== null && { size }),
    ...(format !== null && { output_format: format }),
    response_format: "b64_json",
    watermark: false,
  });
}

/** One size per ratio that every model supports. */
const SAFE_SIZES = ["2048x2048", "2496x1664", "1664x2496", "2560x1440", "1440x2560", "2304x1728", "1728x2304"];

/** Models with a minimum of 1280x720 pixels. For the others the minimum is 2560x1440. */
const SMALL_SIZES = /seedream-(?:4-0|5-0-pro)/;

/**
 * Returns the requested size if the model supports it, else the safe size with the nearest ratio; null if the model
 * chooses.
 */
function sizeFor({ model, size }: ImageOrder): string | null {
  const pixels = pixelsOf(size);
  if (pixels === null) return null;
  const { width, height } = pixels;
  const minPixels = SMALL_SIZES.test(model) ? 921_600 : 3_686_400;
  const isSupported = width * height >= minPixels && Math.max(width / height, height / width) <= 16;
  return isSupported ? size : nearestRatio(pixels, SAFE_SIZES);
}

/** Only the fifth series has a format field; the others create JPEG. */
function formatFor({ model, outputFormat }: ImageOrder): string | null {
  return /seedream-5/.test(model) && (outputFormat === "png" || outputFormat === "jpeg") ? outputFormat : null;
}

function readOutcome(body: unknown, order: ImageOrder, outbound: Outbound): ImageOutcome {
  const response = ResponseBody.parse(body);
  const format = formatFor(order);
  const mediaType = format === null ? null : `image/${format}`;
  const generated = (response.data ?? []).flatMap((item) => {
    const image = generatedImageOf(item, mediaType);
    return image === null ? [] : [{ image, size: item.size ?? null }];
  });
  const [first] = generated;
  if (first === undefined) {
    throw failureOf(response.error ?? response.data?.find(({ error }) => error)?.error ?? null, outbound);
  }
  const outputTokens = response.usage?.output_tokens ?? 0;
  return {
    createdAt: response.created ?? null,
    images: generated.map(({ image }) => image),
    size: first.size ?? sizeFor(order),
    quality: null,
    consumption: consumptionOf({ ...NO_CONSUMPTION, outputTokens }),
  };
}

/** Converts a failure that a status 200 response reports for the whole request or for its only image. */
function failureOf(failure: z.infer<typeof Failure> | null, outbound: Outbound) {
  if (failure === null) return outbound.failure("broken", "", { accepted: "unknown" });
  const kind = arkFailureKindOf(failure.code) ?? "unavailable";
  return outbound.failure(kind, failure.message ?? "", {
    vendorCode: failure.code ?? undefined,
    isContentRefusal: isArkRefusal(failure.code),
  });
}
