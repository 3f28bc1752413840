import type { Catalog } from "../../../vendors/catalog/catalog.ts";
import type { Spooled } from "../../../platform/files/spool.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { IMAGE_HEAD_BYTES, type ImageFacts, imageFactsOf } from "../../../platform/lib/media/picture_head.ts";
import type { ImageSource } from "../../../vendors/upstreams/contract/image_upstream.ts";
import { type EditForm, SVG_FIELDS } from "./edit_form.ts";
import {
  BACKGROUNDS,
  booleanOf,
  extrasOf,
  integerOr,
  MAX_IMAGES,
  MAX_PARTIAL_IMAGES,
  oneOf,
  oneOfOrNull,
  promptOf,
} from "../request/fields.ts";
import { checkFileType, readSvg } from "../request/file_types.ts";
import type { ImageRequest } from "../request/image_request.ts";
import { MAX_PIXELS } from "../request/reference_image.ts";
import { editingModel, type ImageModel } from "../request/series.ts";
import { EDIT_QUALITIES, qualityFor, sizeFor } from "../request/size_and_quality.ts";

/** These first bytes state the size of almost every picture. */
const DEFAULT_HEAD_BYTES = 65_536;

/**
 * Reads an edit request. Source: docs/api/images.md#edits.
 *
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`.
 */
export async function readEdit(form: EditForm, catalog: Catalog): Promise<ImageRequest> {
  const { fields, images, mask, references = [], maskReference = null, unknown } = form;
  const modelName = fields.get("model") ?? "";
  const model = editingModel(catalog, modelName);
  const stream = booleanOf("stream", truthIn(fields.get("stream")));
  const partialImages = integerOr("partial_images", numberIn(fields.get("partial_images")), 0, MAX_PARTIAL_IMAGES, 0);
  const outputFormat = oneOfOrNull("output_format", fields.get("output_format"), model.image.outputFormats);
  const background = oneOfOrNull("background", fields.get("background"), BACKGROUNDS);
  checkFileType({ outputFormat, background, hasMask: mask !== null || maskReference !== null });
  const { extras, dropped } = extrasOf((name) => extraIn(name, fields), outputFormat);
  const chosen = svgIn(fields);
  const svg = readSvg(chosen, model, { outputFormat, catalog });
  const svgDropped = svg === null && chosen !== null ? ["svg"] : [];
  const fidelity = fidelityOf(fields.get("input_fidelity"), model);
  return {
    kind: "edit",
    model,
    modelName,
    prompt: promptOf(fields.get("prompt")),
    quality: qualityFor(fields.get("quality"), model.image, EDIT_QUALITIES),
    size: sizeFor(fields.get("size"), model.image),
    count: integerOr("n", numberIn(fields.get("n")), 1, MAX_IMAGES, 1),
    references,
    maskReference,
    outputFormat,
    svg,
    background,
    inputFidelity: fidelity.value,
    extras,
    droppedFields: [
      ...fidelity.dropped,
      ...unknown,
      ...formatDropped(fields.get("response_format")),
      ...dropped,
      ...svgDropped,
    ],
    stream,
    partialImages: stream ? partialImages : 0,
    bodyPin: null,
    images: await Promise.all(images.map((image, index) => uploadedPicture(`image[${index}]`, image))),
    mask: mask && await uploadedPicture("mask", mask),
  };
}

const NUMBERS: readonly string[] = ["output_compression", "frame_count", "frame_duration_ms"];

function extraIn(name: string, fields: ReadonlyMap<string, string>): unknown {
  return NUMBERS.includes(name) ? numberIn(fields.get(name)) : fields.get(name);
}

/** The members of `svg`, each a field of the form; null if none is set. */
function svgIn(fields: ReadonlyMap<string, string>): unknown {
  const [model, effort] = SVG_FIELDS.map((name) => fields.get(name));
  return model === undefined && effort === undefined ? null : { model, reasoning: { effort } };
}

/** A model without this option does not receive it; the response names the dropped field. */
function fidelityOf(
  value: string | undefined,
  { image }: ImageModel,
): { readonly value: string | null; readonly dropped: readonly string[] } {
  if (value === undefined) return { value: null, dropped: [] };
  if (image.inputFidelity.length === 0) return { value: null, dropped: ["input_fidelity"] };
  return { value: oneOf("input_fidelity", value, image.inputFidelity), dropped: [] };
}

/** Every image is returned as base64. */
function formatDropped(format: string | undefined): readonly string[] {
  return format === undefined || format === "b64_json" ? [] : ["response_format"];
}

/** Checks an uploaded picture by its content. Source: docs/api/images.md#edits. */
async function uploadedPicture(field: string, upload: Spooled): Promise<ImageSource> {
  const facts = await factsOf(upload);
  const isTaken = facts !== null && (facts.mediaType === "image/png" ||
    (facts.mediaType === "image/jpeg" && field !== "mask"));
  if (!isTaken) throw invalidField(field, `expected a ${field === "mask" ? "PNG" : "PNG or JPEG"} file`);
  if (facts.width * facts.height > MAX_PIXELS) {
    throw invalidField(field, `expected at most ${MAX_PIXELS} pixels, got ${facts.width}x${facts.height}`);
  }
  return { ...facts, lengthBytes: upload.lengthBytes, open: upload.open };
}

async function factsOf(upload: Spooled): Promise<ImageFacts | null> {
  const facts = imageFactsOf(await upload.head(DEFAULT_HEAD_BYTES));
  if (facts !== null || upload.lengthBytes <= DEFAULT_HEAD_BYTES) return facts;
  return imageFactsOf(await upload.head(IMAGE_HEAD_BYTES));
}

function numberIn(text: string | undefined): unknown {
  return text !== undefined && /^-?\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : text;
}

function truthIn(text: string | undefined): unknown {
  return text === "true" ? true : text === "false" ? false : text;
}
