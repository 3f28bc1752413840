import * as z from "zod";
import { editWithoutMask } from "../shared/images/image_edit.ts";
import { imageRequestOptions } from "../shared/images/image_request_options.ts";
import { generatedImageOf } from "../shared/images/image_reply.ts";
import { pixelsOf } from "../shared/images/image_size.ts";
import type { ImageCall, ImageOrder, ImageOutcome, ImageUpstream } from "../contract/image_upstream.ts";
import { dataUriOf, jsonBody } from "../contract/inline_file.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { alibabaFailureKindOf, isAlibabaRefusal, readAlibabaError } from "./refusal.ts";

const GENERATION = "/api/v1/services/aigc/multimodal-generation/generation";
/** The maximum number of images in a request. */
const MAX_IMAGES = 3;

const text = z.string().nullish();

const ResponseBody = z.object({
  output: z.object({
    choices: z.array(z.object({
      message: z.object({ content: z.array(z.object({ image: text })).nullish() }).nullish(),
    })).nullish(),
  }).nullish(),
  code: text,
  message: text,
});

/**
 * Qwen-Image creates one image per request, from a prompt and optional images. It does not distinguish reference images
 * from images to edit. Source: Model Studio API reference, "Qwen-Image", "Qwen-Image-Edit".
 */
export function qwenImages(outbound: Outbound): ImageUpstream {
  const generate = async (order: ImageOrder, call: ImageCall) =>
    await outbound.json(
      "POST",
      GENERATION,
      requestFor(order, outbound),
      (response) => readOutcome(response, order, outbound),
      imageRequestOptions(call, readAlibabaError),
    );
  return {
    generate,
    edit: editWithoutMask(outbound, generate),
    stream: null,
    maxPerCall: 1,
  };
}

function requestFor(order: ImageOrder, outbound: Outbound) {
  if (order.images.length > MAX_IMAGES) {
    const message = `Too many images: expected at most ${MAX_IMAGES}, got ${order.images.length}`;
    throw outbound.failure("invalid", message, { field: "image" });
  }
  const content = [...order.images.map((image) => ({ image: dataUriOf(image) })), { text: order.prompt }];
  const pixels = pixelsOf(order.size);
  return jsonBody({
    model: order.model,
    input: { messages: [{ role: "user", content }] },
    parameters: {
      n: 1,
      watermark: false,
      ...(pixels !== null && { size: `${pixels.width}*${pixels.height}` }),
    },
  });
}

function readOutcome(body: unknown, { size }: ImageOrder, outbound: Outbound): ImageOutcome {
  const { output, code, message } = ResponseBody.parse(body);
  const parts = (output?.choices ?? []).flatMap((choice) => choice.message?.content ?? []);
  const images = parts.flatMap(({ image }) => generatedImageOf({ url: image }, null) ?? []);
  if (images.length > 0) {
    return { createdAt: null, images, size: pixelsOf(size) === null ? null : size, quality: null, consumption: null };
  }
  if (!code) throw outbound.failure("broken", "", { accepted: "unknown" });
  throw outbound.failure(alibabaFailureKindOf(code) ?? "unavailable", message ?? "", {
    vendorCode: code,
    isContentRefusal: isAlibabaRefusal(code),
  });
}
