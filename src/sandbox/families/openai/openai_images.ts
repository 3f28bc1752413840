import { iteratorStream } from "../../../platform/lib/streams/output_stream.ts";
import { writeFrame } from "../../../platform/lib/streams/sse.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { RequestedBreak } from "../../chunk_stream.ts";
import { bodyOf, type Call, isMissingModel, jsonResponse } from "../../call.ts";
import type { Directives } from "../../directives.ts";
import { type DecodedImage, decodeImage } from "../../pictures/file.ts";
import {
  draftOf,
  followDirectives,
  type SimulatedImage,
  type SimulatedImageRequest,
  simulateImages,
} from "../../pictures/make.ts";
import { sidesOf } from "../../pictures/pixels.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";
import { badParameter, checkPresent, checkRange } from "./openai_fields.ts";
import { fileOf, type FileOrder, formatsOf, readFileOrder, svgUsageOf } from "./openai_image_files.ts";
import { failureMessage } from "./openai_messages.ts";

/** Fields of both endpoints. Source: OpenAI API reference, "Create image", "Create image edit". */
const SHARED = ["model", "prompt", "n", "size", "quality", "background", "output_format", "output_compression"];
const STREAMED = ["stream", "partial_images", "moderation", "user", "safety_identifier"];
const OF_FILES = ["frame_count", "frame_duration_ms", "svg"];
const GENERATION_FIELDS: ReadonlySet<string> = new Set([...SHARED, ...STREAMED, ...OF_FILES]);
const EDIT_FIELDS: ReadonlySet<string> = new Set([
  ...SHARED,
  ...STREAMED,
  ...OF_FILES,
  "image",
  "image[]",
  "mask",
  "input_fidelity",
]);
const FIRST_SIZES = ["auto", "1024x1024", "1536x1024", "1024x1536"];
const GIVEN_IMAGE_TOKENS = 323;
const SQUARE_TOKENS = { low: 272, medium: 1056, high: 4160, xhigh: 8320, max: 16640 } as const;
const QUALITIES = ["auto", "low", "medium", "high"] as const;
/** Models that also have the qualities `xhigh` and `max`. Source: OpenAI API reference, "Create image", `quality`. */
const WITH_MAX = /^gpt-image-2\.5-(?:sunburst|flare)/;
const MAX_PROMPT_CHARACTERS = 32_000;

/** A valid request, and the fields of its response beside the pictures. */
interface ImagesRequest {
  readonly order: SimulatedImageRequest;
  readonly file: FileOrder;
  readonly size: string;
  readonly quality: keyof typeof SQUARE_TOKENS;
  readonly background: string;
  readonly partials: number;
  readonly streamed: boolean;
  readonly kind: "image_generation" | "image_edit";
}

/** `POST /v1/images/generations`. */
export async function makeImages(call: Call): Promise<Response> {
  const body = bodyOf(call, "We could not parse the JSON body of your request.");
  checkFields(body, GENERATION_FIELDS);
  return await answer(call, body, [], null);
}

/** `POST /v1/images/edits`. The vendor accepts only a multipart form. */
export async function editImages(call: Call): Promise<Response> {
  const { form } = call;
  if (form === null) throw new SimulatedError(400, "Unsupported content type: expected 'multipart/form-data'.");
  const body = withSvg(
    Object.fromEntries([...form].filter(([, value]) => typeof value === "string").map(readField)),
  );
  const uploads = [...form.getAll("image"), ...form.getAll("image[]")];
  const names = [...form.keys()].filter((key) => !key.startsWith("svg["));
  checkFields({ ...body, ...Object.fromEntries(names.map((key) => [key, body[key] ?? true])) }, EDIT_FIELDS);
  if (uploads.length === 0) throw badParameter("image", "Missing required parameter: 'image'.");
  if (uploads.length > 16) throw badParameter("image", "Invalid 'image': array too long. Expected at most 16 images.");
  const pictures = await Promise.all(uploads.map((upload) => uploaded("image", upload)));
  const mask = form.get("mask");
  const maskPicture = mask === null ? null : await uploaded("mask", mask);
  const [original] = pictures;
  if (maskPicture && (maskPicture.width !== original?.width || maskPicture.height !== original.height)) {
    throw badParameter("mask", "Invalid mask image format - mask size does not match image size.");
  }
  return await answer(call, body, pictures, { mask: maskPicture });
}

async function answer(
  call: Call,
  body: JsonObject,
  references: readonly DecodedImage[],
  change: SimulatedImageRequest["change"],
): Promise<Response> {
  const request = parsedRequest(body, references, change);
  const directives = await followDirectives(call, request.order.prompt, "openai", failureMessage);
  if (directives instanceof Response) return directives;
  if (directives.refuses) {
    throw new SimulatedError(400, "Your request was rejected by the safety system.", { code: "moderation_blocked" });
  }
  const made = await simulateImages({ ...request.order, prompt: directives.text });
  return request.streamed ? stream(call, request, made, directives) : whole(call, request, made, directives);
}

function parsedRequest(
  body: JsonObject,
  references: readonly DecodedImage[],
  change: SimulatedImageRequest["change"],
): ImagesRequest {
  checkPresent(body, "prompt");
  checkPresent(body, "model");
  checkRange(body, "n", 1, 10);
  checkRange(body, "partial_images", 0, 3);
  const model = String(body.model);
  if (isMissingModel(model)) {
    throw new SimulatedError(404, `The model \`${model}\` does not exist.`, { code: "model_not_found" });
  }
  if (String(body.prompt).length > MAX_PROMPT_CHARACTERS) {
    throw badParameter("prompt", "Invalid 'prompt': string too long.");
  }
  const format = oneOf(body, "output_format", formatsOf(model), "png");
  const background = oneOf(body, "background", ["auto", "opaque", "transparent"], "auto");
  const file = readFileOrder(body, format, change !== null && change.mask !== null);
  const qualities = WITH_MAX.test(model) ? [...QUALITIES, "xhigh", "max"] as const : QUALITIES;
  const quality = oneOf<typeof QUALITIES[number] | "xhigh" | "max">(body, "quality", qualities, "auto");
  const size = sizeOf(body, model, change === null ? null : references[0] ?? null);
  const { width, height } = sidesOf(size);
  return {
    order: {
      prompt: String(body.prompt),
      width,
      height,
      count: Number(body.n ?? 1),
      format: format === "gif" || format === "svg" ? "png" : format,
      isTransparent: background === "transparent",
      references,
      change,
    },
    file,
    size,
    quality: quality === "auto" ? "high" : quality,
    background: background === "auto" ? "opaque" : background,
    partials: Number(body.partial_images ?? 0),
    streamed: body.stream === true,
    kind: change === null ? "image_generation" : "image_edit",
  };
}

/** The first model family has three sizes. Later ones accept every size whose width and height are multiples of 16. */
function sizeOf(body: JsonObject, model: string, original: DecodedImage | null): string {
  const size = String(body.size ?? "auto");
  const isFirst = /^gpt-image-1(\.|-|$)/.test(model);
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  const isFree = Number(width) % 16 === 0 && Number(height) % 16 === 0 && Number(width) * Number(height) >= 655_360;
  if (isFirst || size === "auto" ? !FIRST_SIZES.includes(size) : !isFree) {
    throw badParameter(
      "size",
      `Invalid value: '${size}'. Supported values are: ${FIRST_SIZES.join(", ")}.`,
      "invalid_value",
    );
  }
  if (size !== "auto") return size;
  if (original === null || original.width === original.height) return "1024x1024";
  return original.width > original.height ? "1536x1024" : "1024x1536";
}

function whole(call: Call, request: ImagesRequest, made: readonly SimulatedImage[], { noUsage }: Directives): Response {
  const { size, quality, background, order, file } = request;
  const [first] = made;
  return jsonResponse({
    created: secondsOf(call),
    background,
    output_format: file.format,
    quality,
    size,
    data: made.map((each) => ({ b64_json: fileOf(each, file) })),
    ...(noUsage ? {} : { usage: usageOf(request) }),
    ...(noUsage || first === undefined ? {} : svgUsageOf(first, file, order.prompt)),
  }, { "x-request-id": call.requestId });
}

function stream(call: Call, request: ImagesRequest, made: readonly SimulatedImage[], directives: Directives): Response {
  const { kind, size, quality, background, order, partials } = request;
  const [first] = made;
  const facts = { size, quality, background, output_format: order.format, created_at: secondsOf(call) };
  const event = (type: string, fields: JsonObject) =>
    writeFrame({ event: type, data: JSON.stringify({ type, ...facts, ...fields }) });
  async function* frames(): AsyncGenerator<string> {
    for (let sent = 0; sent <= partials; sent++) {
      if (directives.cutAfter !== null && sent >= Math.min(directives.cutAfter, partials)) {
        throw new RequestedBreak("cut");
      }
      if (directives.closeAfter !== null && sent >= Math.min(directives.closeAfter, partials)) return;
      if (directives.errorAfter !== null && sent >= Math.min(directives.errorAfter, partials)) {
        const error = { type: "server_error", code: "server_error", message: failureMessage(500), param: null };
        return yield writeFrame({ event: "error", data: JSON.stringify({ type: "error", error }) });
      }
      if (sent === partials || first === undefined) break;
      const b64_json = await draftOf(first, order.format);
      yield event(`${kind}.partial_image`, { b64_json, partial_image_index: sent });
      if (directives.pauseMs > 0) {
        await new Promise<void>((done) => void call.vendors.clock.after(directives.pauseMs, done));
      }
    }
    for (const [nth, { base64 }] of made.entries()) {
      const usage = directives.noUsage || nth < made.length - 1 ? {} : { usage: usageOf(request) };
      yield event(`${kind}.completed`, { b64_json: base64, ...usage });
    }
  }
  const body = iteratorStream(frames()).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "content-type": "text/event-stream", "x-request-id": call.requestId } });
}

function usageOf({ order, file, quality, size, partials }: ImagesRequest): JsonObject {
  const { width, height } = sidesOf(size);
  const text = tokensOf(order.prompt);
  const image = GIVEN_IMAGE_TOKENS * order.references.length;
  const perImage = Math.ceil(SQUARE_TOKENS[quality] * width * height / (1024 * 1024));
  const output = perImage * order.count * file.frames + 100 * partials;
  return {
    input_tokens: text + image,
    input_tokens_details: { text_tokens: text, image_tokens: image },
    output_tokens: output,
    total_tokens: text + image + output,
  };
}

function secondsOf({ vendors }: Call): number {
  return Math.floor(vendors.clock.now() / 1000);
}

function checkFields(body: JsonObject, known: ReadonlySet<string>): void {
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown !== undefined) throw badParameter(unknown, `Unknown parameter: '${unknown}'.`, "unknown_parameter");
}

function oneOf<Word extends string>(body: JsonObject, name: string, words: readonly Word[], fallback: Word): Word {
  const value = body[name] ?? fallback;
  const chosen = words.find((word) => word === value);
  if (chosen !== undefined) return chosen;
  const list = words.map((word) => `'${word}'`).join(", ");
  throw badParameter(name, `Invalid value: '${value}'. Supported values are: ${list}.`, "invalid_value");
}

/** The members of `svg`, which a form has as fields such as `svg[model]`. */
function withSvg(body: JsonObject): JsonObject {
  const { "svg[model]": model, "svg[reasoning][effort]": effort, ...others } = body;
  if (model === undefined && effort === undefined) return others;
  return { ...others, svg: { model, reasoning: { effort } } };
}

const NUMBERS = ["n", "partial_images", "output_compression", "frame_count", "frame_duration_ms"];

/** A multipart form contains only text. */
function readField([name, value]: [string, FormDataEntryValue]): [string, unknown] {
  if (value === "true" || value === "false") return [name, value === "true"];
  return [name, NUMBERS.includes(name) ? Number(value) : value];
}

async function uploaded(param: string, upload: FormDataEntryValue): Promise<DecodedImage> {
  if (typeof upload === "string") throw badParameter(param, `Invalid type for '${param}': expected a file.`);
  const picture = await decodeImage(await upload.bytes(), upload.type);
  if (picture) return picture;
  throw badParameter(
    param,
    "Invalid image file or mode for image, please check your image file.",
    "invalid_image_file",
  );
}
