import { droppedFieldsHeader } from "../../platform/http/request/dropped_fields_header.ts";
import { iteratorStream } from "../../platform/lib/streams/output_stream.ts";
import type { ImageConsumption, ImageOutcome } from "../../vendors/upstreams/contract/image_upstream.ts";
import type { MadeImages } from "./consumption.ts";
import type { FinishedImage } from "./finished_image.ts";
import type { ImageRequest } from "./request/image_request.ts";
import type { ChargedSvg } from "./svg_usage.ts";

/** A vendor's result with its pictures and the consumption. */
export interface FinishedImages {
  readonly outcome: ImageOutcome;
  /** All pictures that the vendor made. */
  readonly images: readonly FinishedImage[];
  /** The number of pictures to charge: at most the requested number. */
  readonly charged: number;
  /** Size and quality of the charged pictures. */
  readonly look: MadeImages;
  readonly consumption: ImageConsumption;
  /** What the author of drawings consumed; null for other file types. */
  readonly svg: ChargedSvg | null;
}

const ENCODER = new TextEncoder();

/** The header fields of a response that a provider served. */
export function imageResponseHeaders(
  provider: string,
  contentType: string,
  { model, droppedFields }: Pick<ImageRequest, "model" | "droppedFields">,
): [string, string][] {
  const headers: [string, string][] = [
    ["content-type", contentType],
    ["x-service-provider", provider],
    ["x-service-model", model.id],
  ];
  if (droppedFields.length > 0) headers.push(["x-service-dropped", droppedFieldsHeader(droppedFields)]);
  return headers;
}

/**
 * The response as JSON: `{created, data: [{b64_json, index}], model, size, quality, usage}`. It is serialised while it
 * is sent, so that the pictures are not copied. Source: docs/api/images.md#response.
 */
export function imageResponse(request: ImageRequest, work: FinishedImages, provider: string, now: number): Response {
  const { images, outcome } = work;
  const created = outcome.createdAt ?? Math.floor(now / 1000);
  const rest = {
    model: request.modelName,
    size: sizeUsed(request, work),
    quality: qualityUsed(request, outcome),
    usage: writeUsage(request, work.consumption),
    ...writeSvgUsage(work),
  };
  const opening = ENCODER.encode(`{"created":${created},"data":[`);
  const closing = ENCODER.encode(`],${JSON.stringify(rest).slice(1)}`);
  const frames = images.map((image, index) => ({
    before: ENCODER.encode(`${index === 0 ? "" : ","}{"b64_json":"`),
    image,
    after: ENCODER.encode(`","index":${index}}`),
  }));
  const length = frames.reduce(
    (sum, { before, image, after }) => sum + before.length + image.base64Length + after.length,
    opening.length + closing.length,
  );
  function* pieces(): Generator<Uint8Array<ArrayBuffer>> {
    yield opening;
    for (const { before, image, after } of frames) {
      yield before;
      yield* image.pieces();
      yield after;
    }
    yield closing;
  }
  const headers = imageResponseHeaders(provider, "application/json", request);
  return new Response(iteratorStream(pieces()), { headers: [...headers, ["content-length", String(length)]] });
}

/** Source: docs/api/images.md#response, `size`: the actual size, or `auto` for edits that requested it. */
export function sizeUsed(request: ImageRequest, { outcome, images }: FinishedImages): string {
  if (request.kind === "edit" && request.size === "auto") return "auto";
  return outcome.size ?? images[0]?.measure() ?? request.size ?? "auto";
}

/** Source: docs/api/images.md#response, `quality`. */
export function qualityUsed(request: ImageRequest, outcome: ImageOutcome): string {
  return outcome.quality ?? request.quality;
}

/** Source: docs/api/images.md#response, `svg_usage`. */
export function writeSvgUsage({ svg }: Pick<FinishedImages, "svg">): Record<string, unknown> {
  if (svg === null) return {};
  const { inputTokens, outputTokens, reasoningTokens } = svg.usage;
  return {
    svg_usage: {
      model: svg.author.id,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      reasoning_tokens: reasoningTokens,
      total_tokens: inputTokens + outputTokens,
    },
  };
}

/** Source: docs/api/images.md#response, `usage`. */
export function writeUsage(request: ImageRequest, consumption: ImageConsumption): Record<string, unknown> {
  const { textTokens, imageTokens, outputTokens, outputTextTokens } = consumption;
  const isEdit = request.kind === "edit";
  const given = request.references.length + (isEdit ? request.images.length : 0);
  return {
    input_tokens: textTokens + imageTokens,
    input_tokens_details: { text_tokens: textTokens, ...isEdit ? { image_tokens: imageTokens } : {} },
    ...given > 0 ? { num_input_images: given } : {},
    output_tokens: outputTokens,
    ...outputTextTokens > 0
      ? { output_tokens_details: { text_tokens: outputTextTokens, image_tokens: outputTokens - outputTextTokens } }
      : {},
    total_tokens: textTokens + imageTokens + outputTokens,
  };
}
