import * as z from "zod";
import type { EndpointPaths } from "../endpoint_paths.ts";
import { imageRequestOptions } from "../image_request_options.ts";
import { consumptionOf, generatedImageOf, listedImage, tokenCount } from "../image_reply.ts";
import type { ImageCall, ImageConsumption, ImageOrder, ImageOutcome, ImageUpstream } from "../image_upstream.ts";
import { jsonBody } from "../json_body.ts";
import { type FormField, multipartBody } from "../multipart_body.ts";
import type { OutboundBody } from "../outbound_body.ts";
import type { Outbound } from "../outbound_call.ts";
import { readImageError } from "./image_error.ts";
import { readImageStream } from "./image_stream.ts";

/** The fields of a request other than images. */
type Fields = Readonly<Record<string, string | number | boolean>>;

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

/**
 * The Images API of OpenAI and compatible vendors. `response_format` is never sent, because models of the gpt-image
 * family reject it. Responses with URLs are read, too. Source: OpenAI API reference, "Images".
 */
export function openaiImages(outbound: Outbound, pathOf: EndpointPaths) {
  const send = (order: ImageOrder, call: ImageCall, edits: boolean) => {
    const { endpoint, body } = requestFor(order, edits, {});
    return outbound.json(
      "POST",
      pathOf(endpoint, order.model),
      body,
      (response) => readOutcome(response, order, outbound),
      imageRequestOptions(call, readImageError),
    );
  };
  return {
    generate: (order: ImageOrder, call: ImageCall) => send(order, call, order.images.length > 0),
    edit: (order: ImageOrder, call: ImageCall) => send(order, call, true),
    async *stream(order: ImageOrder, call: ImageCall, kind: "generate" | "edit") {
      const edits = kind === "edit" || order.images.length > 0;
      const { endpoint, body } = requestFor(order, edits, { stream: true, partial_images: order.partialImages });
      const response = await outbound.send({
        method: "POST",
        path: pathOf(endpoint, order.model),
        headers: {},
        body,
        firstByteMs: outbound.firstByteMs,
        // The response head arrives at once, the first image minutes later.
        idleMs: outbound.firstByteMs,
        callerSignal: call.callerSignal,
        readError: readImageError,
      });
      call.onResponse?.(response);
      yield* readImageStream(response, outbound, (response) => readOutcome(response, order, outbound));
    },
  } satisfies Partial<ImageUpstream>;
}

function requestFor(order: ImageOrder, edits: boolean, extras: Fields): { endpoint: string; body: OutboundBody } {
  const fields = { ...fieldsOf(order, edits), ...extras };
  if (!edits) return { endpoint: "/images/generations", body: jsonBody({ ...fields, ...svgOf(order) }) };
  const texts = Object.entries({ ...fields, ...svgFieldsOf(order) }).map(([name, value]): FormField => ({
    name,
    text: String(value),
  }));
  return { endpoint: "/images/edits", body: multipartBody([...texts, ...filesOf(order)]) };
}

/** `auto` is not sent: it is the default of every model, and not all compatible vendors know it. */
function fieldsOf(order: ImageOrder, edits: boolean): Fields {
  const { model, prompt, count, outputFormat, background, inputFidelity, extras } = order;
  const size = sizeFor(order);
  const quality = qualityFor(order);
  return {
    model,
    prompt,
    ...(count > 1 && { n: count }),
    ...(size !== null && { size }),
    ...(quality !== null && { quality }),
    ...(background !== null && { background }),
    ...(outputFormat !== null && { output_format: outputFormat }),
    ...(edits && inputFidelity !== null && { input_fidelity: inputFidelity }),
    ...extras,
  };
}

function svgOf({ svg }: ImageOrder) {
  if (svg === null || (svg.model === null && svg.effort === null)) return {};
  const reasoning = svg.effort === null ? {} : { reasoning: { effort: svg.effort } };
  return { svg: { ...svg.model !== null && { model: svg.model }, ...reasoning } };
}

/** Source: OpenAI API reference, "Create image edit", `svg`: "Use multipart fields such as `svg[model]`." */
function svgFieldsOf({ svg }: ImageOrder): Fields {
  return {
    ...(svg !== null && svg.model !== null && { "svg[model]": svg.model }),
    ...(svg !== null && svg.effort !== null && { "svg[reasoning][effort]": svg.effort }),
  };
}

/** A single image is sent as `image`, which every vendor supports. Several are sent as `image[]`, in their order. */
function filesOf({ images, mask }: ImageOrder): FormField[] {
  const name = images.length === 1 ? "image" : "image[]";
  const extension = (mediaType: string) => mediaType.slice(mediaType.indexOf("/") + 1);
  const files = images.map((file, nth): FormField => ({
    name,
    file,
    filename: `image_${nth + 1}.${extension(file.mediaType)}`,
  }));
  return mask === null
    ? files
    : [...files, { name: "mask", file: mask, filename: `mask.${extension(mask.mediaType)}` }];
}

/**
 * The gpt-image-1 family supports three sizes; later families support any. Source: OpenAI API reference, "Create
 * image", `size`.
 */
const GPT_IMAGE_1_SIZES: Readonly<Record<string, string>> = { "1792x1024": "1536x1024", "1024x1792": "1024x1536" };

function sizeFor({ model, size }: ImageOrder): string | null {
  if (size === null || size === "auto") return null;
  return /^gpt-image-1(?:$|[.-])/.test(model) ? GPT_IMAGE_1_SIZES[size] ?? size : size;
}

/** Quality values of retired models and their equivalents in the later family. */
const GPT_IMAGE_QUALITIES: Readonly<Record<string, string>> = { standard: "medium", hd: "high" };

function qualityFor({ model, quality }: ImageOrder): string | null {
  if (quality === "auto") return null;
  return /^(?:chat)?gpt-image-/.test(model) ? GPT_IMAGE_QUALITIES[quality] ?? quality : quality;
}

function readOutcome(body: unknown, order: ImageOrder, outbound: Outbound): ImageOutcome {
  const response = ResponseBody.parse(body);
  const mediaType = response.output_format ? mediaTypeOfFormat(response.output_format) : null;
  const { svg_usage: svg } = response;
  const images = response.data.map((item) => generatedImageOf(item, mediaType)).filter((image) => image !== null);
  if (images.length === 0) throw outbound.failure("broken", "", { accepted: "unknown" });
  return {
    createdAt: response.created ?? null,
    images,
    size: response.size ?? sizeFor(order),
    quality: response.quality ?? qualityFor(order),
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
