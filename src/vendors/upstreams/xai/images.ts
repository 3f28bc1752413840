import * as z from "zod";
import { editWithoutMask } from "../shared/images/image_edit.ts";
import { imageRequestOptions } from "../shared/images/image_request_options.ts";
import { generatedImageOf, listedImage } from "../shared/images/image_reply.ts";
import { nearestRatio, pixelsOf } from "../shared/images/image_size.ts";
import type { ImageCall, ImageOrder, ImageOutcome, ImageUpstream } from "../contract/image_upstream.ts";
import { dataUriOf, jsonBody } from "../contract/inline_file.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { readCostUsd } from "./cost.ts";
import { readXaiError } from "./refusal.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

const ResponseBody = z.object({
  created: z.number().nullish(),
  data: z.array(listedImage.extend({
    mime_type: z.string().nullish(),
    respect_moderation: z.boolean().nullish(),
  })).nullish(),
});

/**
 * Grok Imagine. The shape is a ratio and a resolution. Reference images and images to edit are sent to the same
 * endpoint, inside the JSON. The vendor reports no tokens. Source: xAI API reference, "Image generation", "Image
 * editing".
 */
export function xaiImages(outbound: Outbound): ImageUpstream {
  const generate = (order: ImageOrder, call: ImageCall) => {
    const path = order.images.length === 0 ? "/images/generations" : "/images/edits";
    return outbound.json(
      "POST",
      path,
      requestFor(order),
      (response) => readOutcome(response, outbound),
      imageRequestOptions(call, readXaiError),
    );
  };
  return {
    generate,
    edit: editWithoutMask(outbound, generate),
    stream: null,
    maxPerCall: 10,
    sentOptions: () => ["user"],
  };
}

function requestFor(order: ImageOrder) {
  const quality = qualityFor(order);
  const images = order.images.map((image) => ({ url: dataUriOf(image) }));
  return jsonBody({
    model: order.model,
    prompt: order.prompt,
    ...(images.length === 1 && { image: images[0] }),
    ...(images.length > 1 && { images }),
    ...(order.count > 1 && { n: order.count }),
    ...shapeFor(order),
    ...(quality !== null && { quality }),
    ...(order.extras.user !== undefined && { user: order.extras.user }),
    response_format: "b64_json",
  });
}

const RATIOS = [
  "1:1",
  "3:4",
  "4:3",
  "9:16",
  "16:9",
  "2:3",
  "3:2",
  "9:19.5",
  "19.5:9",
  "9:20",
  "20:9",
  "1:2",
  "2:1",
];

/** Returns the nearest ratio. 1k is the default resolution. xAI rejects the field `size`. */
function shapeFor({ size }: ImageOrder): Record<string, string> {
  const pixels = pixelsOf(size);
  if (pixels === null) return {};
  const isLarge = Math.max(pixels.width, pixels.height) >= 2048;
  return { aspect_ratio: nearestRatio(pixels, RATIOS), ...(isLarge && { resolution: "2k" }) };
}

const QUALITIES: Readonly<Record<string, string>> = {
  low: "low",
  medium: "medium",
  high: "high",
  standard: "medium",
  hd: "high",
};

/** Only the second series has quality levels. */
function qualityFor({ model, quality }: ImageOrder): string | null {
  return /image-2/.test(model) ? ownValue(QUALITIES, quality) ?? null : null;
}

function readOutcome(body: unknown, outbound: Outbound): ImageOutcome {
  const response = ResponseBody.parse(body);
  const items = response.data ?? [];
  const images = items.map((item) => generatedImageOf(item, item.mime_type ?? null)).filter((image) => image !== null);
  if (images.length === 0) {
    if (!items.some(({ respect_moderation }) => respect_moderation === false)) {
      throw outbound.failure("broken", "", { accepted: "unknown" });
    }
    throw outbound.failure("invalid", "The images were rejected by the vendor's content moderation", {
      vendorCode: "respect_moderation",
      isContentRefusal: true,
      costUsd: readCostUsd(body) ?? undefined,
    });
  }
  return { createdAt: response.created ?? null, images, size: null, quality: null, consumption: null };
}
