import * as z from "zod";
import { consumptionOf, generatedImageOf, listedImage, tokenCount } from "../shared/images/image_reply.ts";
import type { ImageConsumption, ImageOutcome } from "../contract/image_upstream.ts";
import type { Outbound } from "../call/outbound_call.ts";

const Usage = z.object({
  input_tokens: tokenCount,
  input_tokens_details: z.object({
    text_tokens: z.number().nonnegative().nullish(),
    image_tokens: tokenCount,
    cached_tokens: tokenCount,
    cached_tokens_details: z.object({ image_tokens: tokenCount }).nullish(),
  }).nullish(),
  output_tokens: tokenCount,
  output_tokens_details: z.object({ text_tokens: tokenCount }).nullish(),
}).nullish();

/** Source: OpenAI API reference, "Create image", response, `svg_usage`: in addition to `usage`. */
const SvgUsageBody = z.object({
  model: z.string().nullish(),
  input_tokens: tokenCount,
  output_tokens: tokenCount,
  reasoning_tokens: tokenCount,
});

const ResponseBody = z.object({
  created: z.number().nullish(),
  data: z.array(listedImage),
  size: z.string().nullish(),
  quality: z.string().nullish(),
  output_format: z.string().nullish(),
  usage: Usage,
  svg_usage: SvgUsageBody.nullish(),
});

/** What an image request asked for, where the response does not say it. */
export type SentLook = Pick<ImageOutcome, "size" | "quality">;

/**
 * Reads a complete response. Source: OpenAI API reference, "Create image", response.
 *
 * @throws {UpstreamFailure} Without an image. {ZodError} for another shape.
 */
export function readOutcome(body: unknown, sent: SentLook, outbound: Outbound): ImageOutcome {
  const response = ResponseBody.parse(body);
  const mediaType = response.output_format ? mediaTypeOfFormat(response.output_format) : null;
  const { svg_usage: svg } = response;
  const images = response.data.map((item) => generatedImageOf(item, mediaType)).filter((image) => image !== null);
  if (images.length === 0) throw outbound.failure("broken", "", { accepted: "unknown" });
  return {
    createdAt: response.created ?? null,
    images,
    size: response.size ?? sent.size,
    quality: response.quality ?? sent.quality,
    consumption: readConsumption(response.usage),
    ...svg && {
      svgUsage: {
        model: svg.model ?? null,
        inputTokens: svg.input_tokens,
        outputTokens: svg.output_tokens,
        reasoningTokens: svg.reasoning_tokens,
      },
    },
  };
}

function mediaTypeOfFormat(format: string): string {
  return `image/${format.replace(/^jpg$/, "jpeg").replace(/^svg$/, "svg+xml")}`;
}

function readConsumption(usage: z.infer<typeof Usage>): ImageConsumption | null {
  if (!usage) return null;
  const imageTokens = usage.input_tokens_details?.image_tokens ?? 0;
  const cachedDetails = usage.input_tokens_details?.cached_tokens_details;
  return consumptionOf({
    textTokens: usage.input_tokens_details?.text_tokens ?? Math.max(usage.input_tokens - imageTokens, 0),
    imageTokens,
    cachedTokens: usage.input_tokens_details?.cached_tokens ?? 0,
    ...cachedDetails ? { cachedImageTokens: cachedDetails.image_tokens } : {},
    outputTokens: usage.output_tokens,
    outputTextTokens: Math.min(usage.output_tokens_details?.text_tokens ?? 0, usage.output_tokens),
  });
}
