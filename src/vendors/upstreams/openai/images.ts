import type { EndpointPaths } from "../shared/endpoint_paths.ts";
import { IMAGE_EXTRAS } from "../contract/image_options.ts";
import { imageRequestOptions } from "../shared/images/image_request_options.ts";
import type { ImageCall, ImageOrder, ImageUpstream } from "../contract/image_upstream.ts";
import { jsonBody } from "../contract/inline_file.ts";
import { type FormField, multipartBody } from "../contract/multipart_body.ts";
import type { OutboundBody } from "../call/outbound_body.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { readImageError } from "./image_error.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

const imageRepliesModule = new Late(() => import("./image_replies.ts"));
const imageStreamModule = new Late(() => import("./image_stream.ts"));

/** The fields of a request other than images. */
type Fields = Readonly<Record<string, string | number | boolean>>;

/**
 * The Images API of OpenAI and compatible vendors. `response_format` is never sent, because models of the gpt-image
 * family reject it. Responses with URLs are read, too. Source: OpenAI API reference, "Images". Replies are read by
 * `image_replies.ts`, which the first request loads: most providers of this kind serve no image models, and the schemas
 * take memory.
 */
export function openaiImages(outbound: Outbound, pathOf: EndpointPaths): ImageUpstream {
  const send = async (order: ImageOrder, call: ImageCall, edits: boolean) => {
    const { endpoint, body } = requestFor(order, edits, {});
    const { readOutcome } = await imageRepliesModule.load();
    const sent = { size: sizeFor(order), quality: qualityFor(order) };
    return await outbound.json(
      "POST",
      pathOf(endpoint, order.model),
      body,
      (response) => readOutcome(response, sent, outbound),
      imageRequestOptions(call, readImageError),
    );
  };
  return {
    generate: (order, call) => send(order, call, order.images.length > 0),
    edit: (order, call) => send(order, call, true),
    async *stream(order, call, kind) {
      const { readImageStream } = await imageStreamModule.load();
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
      yield* readImageStream(response, outbound, { size: sizeFor(order), quality: qualityFor(order) });
    },
    maxPerCall: 10,
    // Source: OpenAI API reference, "Create image", `svg` and `frame_count`.
    singleFormats: ["svg"],
    unstreamedFormats: ["gif", "svg"],
    sentOptions: () => ["background", "output_format", "input_fidelity", "svg", ...IMAGE_EXTRAS],
  };
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
  return /^gpt-image-1(?:$|[.-])/.test(model) ? ownValue(GPT_IMAGE_1_SIZES, size) ?? size : size;
}

/** Quality values of retired models and their equivalents in the later family. */
const GPT_IMAGE_QUALITIES: Readonly<Record<string, string>> = { standard: "medium", hd: "high" };

function qualityFor({ model, quality }: ImageOrder): string | null {
  if (quality === "auto") return null;
  return /^(?:chat)?gpt-image-/.test(model) ? ownValue(GPT_IMAGE_QUALITIES, quality) ?? quality : quality;
}
