import { content } from "../../../conversation/codecs/content/mod.ts";
import { promptTokensOf } from "../../../conversation/neutral/usage.ts";
import { emptyReplyFailure, type GeneratedCandidate, GeneratedContent } from "../shared/generated_content.ts";
import { imageRequestOptions } from "../shared/images/image_request_options.ts";
import { consumptionOf } from "../shared/images/image_reply.ts";
import { nearestRatio, pixelsOf } from "../shared/images/image_size.ts";
import type {
  GeneratedImage,
  ImageConsumption,
  ImageOrder,
  ImageOutcome,
  ImageUpstream,
} from "../contract/image_upstream.ts";
import { base64Of, jsonBody } from "../contract/inline_file.ts";
import { geminiPath } from "../shared/model_paths.ts";
import type { Outbound } from "../call/outbound_call.ts";

/**
 * Gemini's image models create one image per request, from a prompt and optional images, through content generation.
 * They have no quality, mask, background or output format. Source: Gemini API reference, "Generating content", "Image
 * generation".
 */
export function googleImages(outbound: Outbound): ImageUpstream {
  return {
    async generate(order, call) {
      const path = geminiPath(order.model, "generateContent");
      return await outbound.json(
        "POST",
        path,
        requestFor(order, outbound),
        (response) => readOutcome(response, outbound),
        imageRequestOptions(call, content.upstream.readError),
      );
    },
    edit: null, // Images are edited in a conversation, through the content protocol.
    stream: null, // A streamed response contains the whole image in one event.
    maxPerCall: 1,
  };
}

function requestFor(order: ImageOrder, outbound: Outbound) {
  const imageConfig = imageConfigFor(order, outbound);
  const imageParts = order.images.map((image) => ({
    inlineData: { mimeType: image.mediaType, data: base64Of(image) },
  }));
  return jsonBody({
    contents: [{ role: "user", parts: [...imageParts, { text: order.prompt }] }],
    generationConfig: { responseModalities: ["IMAGE"], ...(imageConfig !== null && { imageConfig }) },
  });
}

const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];

/**
 * Returns the nearest ratio, and the size of the longer side. 1K is the default of every model and the only size of
 * some.
 */
function imageConfigFor({ size }: ImageOrder, outbound: Outbound): Record<string, string> | null {
  const pixels = pixelsOf(size);
  if (pixels === null) return null;
  const longSide = Math.max(pixels.width, pixels.height);
  if (longSide < 512) {
    throw outbound.failure("invalid", `The size ${size} is not supported: expected at least 512x512`, {
      field: "size",
    });
  }
  const aspectRatio = nearestRatio(pixels, RATIOS);
  if (longSide === 512) return { aspectRatio, imageSize: "512" };
  if (longSide < 2048) return { aspectRatio };
  return { aspectRatio, imageSize: longSide < 4096 ? "2K" : "4K" };
}

function readOutcome(body: unknown, outbound: Outbound): ImageOutcome {
  const response = GeneratedContent.parse(body);
  const images = response.candidates?.flatMap(imagesOf) ?? [];
  if (images.length === 0) throw emptyReplyFailure(response, "image", outbound);
  return { createdAt: null, images, size: null, quality: null, consumption: readConsumption(body) };
}

/** Drafts are marked as thoughts and left out. */
function imagesOf({ content }: GeneratedCandidate): GeneratedImage[] {
  return (content?.parts ?? []).flatMap(({ thought, inlineData }): GeneratedImage[] => {
    if (thought || !inlineData) return [];
    return [{ result: { kind: "base64", data: inlineData.data }, mediaType: inlineData.mimeType ?? null }];
  });
}

/** Reads the usage as the text endpoints do, so that a reply has one price at all endpoints. */
function readConsumption(body: unknown): ImageConsumption | null {
  const usage = content.upstream.readUsage(body);
  if (usage === null) return null;
  const cachedImageTokens = usage.imageCacheReadTokens ?? 0;
  const imageTokens = (usage.imageInputTokens ?? 0) + cachedImageTokens;
  return consumptionOf({
    textTokens: promptTokensOf(usage) - imageTokens,
    imageTokens,
    cachedTokens: usage.cacheReadTokens,
    ...usage.cacheReadTokens > 0 ? { cachedImageTokens } : {},
    outputTokens: usage.outputTokens,
    outputTextTokens: usage.outputTokens - Math.min(usage.imageOutputTokens ?? 0, usage.outputTokens),
    ...usage.isUnreadable ? { isUnreadable: true } : {},
  });
}
