import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { FileReference, isSentMedia, type SentMedia } from "../../../platform/lib/media/sent_media.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { EDIT_TEXTS, type EditForm, SVG_FIELDS } from "./edit_form.ts";

/** Source: OpenAI API reference, "Create image edit", JSON body. */
const MAX_REFERENCES = 16;

const READ: ReadonlySet<string> = new Set([...EDIT_TEXTS, "images", "mask", "extra_body", "svg"]);

/** Whether a content type is that of an edit as JSON, in place of a form. */
export function isEditBody(contentType: string | null): boolean {
  return /^\s*(?:application|text)\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "");
}

/**
 * Reads an edit whose body is JSON: images by address, as `data:` URI, base64 or stored file, in place of uploads.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readEditBody(body: JsonObject): EditForm {
  const fields = new Map<string, string>();
  for (const name of EDIT_TEXTS) {
    const value = body[name];
    if (value === undefined || value === null || value === "") continue;
    if (typeof value === "object") throw invalidField(name, "expected a text, a number or a boolean");
    fields.set(name, String(value));
  }
  addSvg(body.svg, fields);
  const { images, mask } = body;
  if (!Array.isArray(images) || images.length < 1 || images.length > MAX_REFERENCES) {
    throw invalidField("images", `expected a list of 1 to ${MAX_REFERENCES} objects with "image_url" or "file_id"`);
  }
  return {
    fields,
    images: [],
    mask: null,
    references: images.map((image, index) => addressIn(image, `images[${index}]`)),
    maskReference: mask === undefined || mask === null ? null : addressIn(mask, "mask"),
    unknown: Object.keys(body).filter((name) => !READ.has(name) && body[name] !== null),
  };
}

/** Adds the members of `svg` as a form has them. */
function addSvg(svg: unknown, fields: Map<string, string>): void {
  if (svg === undefined || svg === null) return;
  if (!isObject(svg)) throw invalidField("svg", "expected an object");
  const values = [svg.model, isObject(svg.reasoning) ? svg.reasoning.effort : undefined];
  SVG_FIELDS.forEach((name, index) => {
    const value = values[index];
    if (value !== undefined && value !== null) fields.set(name, String(value));
  });
}

/** Clients of other vendors send the address itself. */
function addressIn(value: unknown, field: string): SentMedia | FileReference {
  if (isSentMedia(value) && value !== "") return value;
  const { image_url: address, file_id: id }: JsonObject = isObject(value) ? value : {};
  if (id !== undefined && id !== null) {
    const path = `${field}.file_id`;
    if (address !== undefined && address !== null) throw invalidField(path, 'expected it without "image_url"');
    if (typeof id !== "string" || id === "") throw invalidField(path, "expected the id of a stored file");
    return new FileReference(id, path);
  }
  if (isSentMedia(address) && address !== "") return address;
  throw invalidField(`${field}.image_url`, "expected an address, a data URI or base64, as text");
}

/** The name of a reference of an edit in errors; the mask comes after the images. */
export function referenceField(index: number, images: number): string {
  return index < images ? `images[${index}].image_url` : "mask.image_url";
}
