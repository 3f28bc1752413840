import { readUploadForm, type Upload, type UploadFormLimits, type UploadFormParts } from "../../calls/upload_form.ts";
import type { RequestSpool, Spooled } from "../../../platform/files/spool.ts";
import type { BodySource } from "../../../platform/http/bodies/body.ts";
import { IMAGE_EXTRAS } from "../../../vendors/upstreams/contract/image_options.ts";
import { closingError } from "../../../platform/http/bodies/form_text.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { FileReference, SentMedia } from "../../../platform/lib/media/sent_media.ts";

/** A received form: the known fields, and the stored uploads. */
export interface EditForm {
  /** Texts by field; a missing or empty field has no entry. */
  readonly fields: ReadonlyMap<string, string>;
  /** In the order of the form. */
  readonly images: readonly Spooled[];
  readonly mask: Spooled | null;
  /** Addresses, base64 or stored files in place of uploads, of a body that is JSON. Default: none. */
  readonly references?: readonly (SentMedia | FileReference)[];
  /** The mask likewise. Default: null. */
  readonly maskReference?: SentMedia | FileReference | null;
  /** The names of parts that are not read, once each. */
  readonly unknown: readonly string[];
}

/** Clients write a list with either name. */
const IMAGE_FIELDS: readonly string[] = ["image", "image[]"];
const MASK_FIELDS: readonly string[] = ["mask", "mask[]"];
/** A field that is ignored. Source: docs/api/routing.md#pin. */
const IGNORED_FIELD = "extra_body";

/** The members of `svg` as fields of a form: the model, and its effort. */
export const SVG_FIELDS = ["svg[model]", "svg[reasoning][effort]"] as const;

/** The fields of an edit other than pictures. Source: docs/api/images.md#edits; OpenAI API reference, "Images". */
export const EDIT_TEXTS: readonly string[] = [
  "model",
  "prompt",
  "quality",
  "n",
  "size",
  "output_format",
  "background",
  "input_fidelity",
  "stream",
  "partial_images",
  "response_format",
  ...IMAGE_EXTRAS,
  ...SVG_FIELDS,
];

const PARTS: UploadFormParts = {
  texts: new Set(EDIT_TEXTS),
  uploadField(name, uploads) {
    if (IMAGE_FIELDS.includes(name)) return `image[${uploads.filter(isImage).length}]`;
    if (!MASK_FIELDS.includes(name)) return null;
    if (!uploads.every(isImage)) throw closingError(invalidField("mask", "expected one file, got two"));
    return "mask";
  },
};

/**
 * Reads an edit's form as it arrives and stores uploads in chunks. Parts with other names are ignored, including
 * `extra_body` (docs/api/routing.md#pin). The caller of this function clears the spool.
 *
 * @throws {GatewayError} `invalid_request`, `request_too_large` or `overloaded`, as early as possible.
 */
export async function readEditForm(
  source: BodySource,
  limits: UploadFormLimits,
  room: RequestSpool,
): Promise<EditForm> {
  const { fields, uploads, unknown } = await readUploadForm(source, { limits, parts: PARTS, room });
  const images = uploads.filter(isImage).map(({ file }) => file);
  if (images.length === 0) throw invalidField("image", "expected at least one file upload");
  const mask = uploads.find((upload) => !isImage(upload))?.file ?? null;
  return { fields, images, mask, unknown: [...unknown].filter((name) => !isIgnored(name)) };
}

function isImage({ name }: Upload): boolean {
  return !MASK_FIELDS.includes(name);
}

/** A form can have `extra_body` as a field for each of its members. */
function isIgnored(name: string): boolean {
  return name === "" || name === IGNORED_FIELD || name.startsWith(`${IGNORED_FIELD}[`);
}
