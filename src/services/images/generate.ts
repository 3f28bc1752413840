import type { Catalog } from "../../vendors/catalog/catalog.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { IMAGE_EXTRAS } from "../../vendors/upstreams/contract/image_options.ts";
import { isSentMedia, type SentMedia } from "../../platform/lib/media/sent_media.ts";
import { readBodyPin } from "../../vendors/routing/pin.ts";
import {
  BACKGROUNDS,
  booleanOf,
  extrasOf,
  integerOr,
  MAX_IMAGES,
  MAX_PARTIAL_IMAGES,
  oneOfOrNull,
  promptOf,
} from "./request/fields.ts";
import { checkFileType, readSvg } from "./request/file_types.ts";
import type { ImageRequest } from "./request/image_request.ts";
import { generatingModel, type ImageModel } from "./request/series.ts";
import { qualityFor, sizeFor } from "./request/size_and_quality.ts";

const MAX_REFERENCES = 3;

/**
 * Reads a generation request. Unknown fields are dropped; `image`, `images` and `image_urls` are ignored.
 * `partial_images` is read if the response is streamed. Source: docs/api/images.md#generations.
 *
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`.
 */
export function readGeneration(body: { readonly [key: string]: unknown }, catalog: Catalog): ImageRequest {
  const modelName = typeof body.model === "string" ? body.model : "";
  const model = generatingModel(catalog, modelName);
  const stream = booleanOf("stream", body.stream);
  const outputFormat = oneOfOrNull("output_format", body.output_format, model.image.outputFormats);
  const background = oneOfOrNull("background", body.background, BACKGROUNDS);
  checkFileType({ outputFormat, background, hasMask: false });
  const { extras, dropped } = extrasOf((name) => body[name], outputFormat);
  const svg = readSvg(body.svg, model, { outputFormat, catalog });
  const partialImages = integerOr("partial_images", body.partial_images, 0, MAX_PARTIAL_IMAGES, 0);
  return {
    kind: "generate",
    model,
    modelName,
    prompt: promptOf(body.prompt),
    quality: qualityFor(body.quality, model.image),
    size: sizeFor(body.size, model.image),
    count: countOf(body.n, model),
    references: referencesOf(body.input_images, model),
    maskReference: null,
    images: [],
    mask: null,
    outputFormat,
    svg,
    background,
    inputFidelity: null,
    stream,
    partialImages: stream ? partialImages : 0,
    bodyPin: readBodyPin(body),
    extras,
    droppedFields: [...droppedOf(body, svg !== null), ...dropped],
  };
}

/** The fields that are read, and other spellings of `input_images`, which are ignored. */
const READ: ReadonlySet<string> = new Set([
  ...["model", "prompt", "quality", "n", "size", "input_images", "output_format", "background", "stream"],
  ...["partial_images", "extra_body", "image", "images", "image_urls", ...IMAGE_EXTRAS],
]);

/** Every image is returned as base64, so that a request for it is served. */
function droppedOf(body: { readonly [key: string]: unknown }, isSvg: boolean): readonly string[] {
  return Object.keys(body).filter((name) =>
    !READ.has(name) && !(name === "svg" && isSvg) && body[name] !== null &&
    !(name === "response_format" && body[name] === "b64_json")
  );
}

function countOf(n: unknown, { id, image }: ImageModel): number {
  if (image.series === "multimodal" && n !== undefined && n !== null) {
    throw invalidField("n", `it must not be sent for "${id}", which makes one image a call`);
  }
  return integerOr("n", n, 1, MAX_IMAGES, 1);
}

/** The references for a model that supports them. For other models the field is unknown and ignored. */
function referencesOf(value: unknown, { image }: ImageModel): readonly SentMedia[] {
  if (image.series !== "reference" || value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_REFERENCES) {
    throw invalidField("input_images", `expected a list of 1 to ${MAX_REFERENCES} addresses or base64 images`);
  }
  value.forEach((item, index) => {
    if (isSentMedia(item) && item !== "") return;
    throw invalidField(`input_images[${index}]`, "expected an address or base64 data, as text");
  });
  return value;
}
