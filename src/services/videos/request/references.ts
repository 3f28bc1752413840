import { MAX_REFERENCES } from "../../../vendors/catalog/sections/media_sections.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { EmbeddedMedia, FileReference, isSentMedia, type SentMedia } from "../../../platform/lib/media/sent_media.ts";
import { videoError } from "../tasks/video_errors.ts";
import type { Medium } from "../../../vendors/video_mode.ts";

/** A reference as sent. */
export interface SentReference {
  readonly medium: Medium;
  /** An address, a `data:` URI as text or decoded, or a stored file. */
  readonly url: SentMedia | FileReference;
  /** Field of the reference, for errors: `input_references[0]`. */
  readonly field: string;
  /** Field of the medium itself: `input_references[0].image_url.url`. */
  readonly path: string;
}

/** The media of `frame_images`, `input_references` and `input_reference`. */
export interface SentReferences {
  readonly firstFrame: SentReference | null;
  readonly lastFrame: SentReference | null;
  readonly references: readonly SentReference[];
}

const MEDIA: readonly Medium[] = ["image", "audio", "video"];

/**
 * Parses the fields with references. Null or an empty list counts as not sent.
 *
 * @throws {GatewayError} `references_conflict`, `too_many_references` or `invalid_request`. Source:
 * docs/api/videos.md#references.
 */
export function readReferences(body: { readonly [key: string]: unknown }): SentReferences {
  const frames = listIn(body.frame_images, "frame_images");
  const inputs = listIn(body.input_references, "input_references");
  if (frames.length > 0 && inputs.length > 0) {
    throw videoError("references_conflict", 'Cannot use both "frame_images" and "input_references": expected one');
  }
  const opening = openingFrameOf(body.input_reference);
  if (opening !== null) {
    if (frames.length === 0 && inputs.length === 0) return { firstFrame: opening, lastFrame: null, references: [] };
    throw invalidField("input_reference", "expected it without frame_images and input_references");
  }
  refuseTooMany(frames, "frame_images");
  refuseTooMany(inputs, "input_references");
  const references = inputs.map((element, index) => referenceOf(element, `input_references[${index}]`, MEDIA));
  return { ...framesOf(frames), references };
}

/**
 * The first frame by its name in OpenAI's API: an upload, an address, or an object with one of `image_url` and
 * `file_id`. Source: OpenAI API reference, "Create video".
 */
function openingFrameOf(value: unknown): SentReference | null {
  if (isMissing(value)) return null;
  const field = "input_reference";
  const { image_url: url, file_id: id } = isObject(value) ? value : { image_url: value };
  if (!isMissing(id)) {
    const path = `${field}.file_id`;
    if (!isMissing(url)) throw invalidField(path, "expected it without image_url");
    return { medium: "image", url: fileReferenceOf(id, path), field, path };
  }
  if (!isSentMedia(url) || url === "") {
    throw invalidField(field, "expected a file, or an object with image_url or file_id");
  }
  return { medium: "image", url, field, path: isObject(value) ? `${field}.image_url` : field };
}

function fileReferenceOf(id: unknown, path: string): FileReference {
  if (typeof id !== "string" || id === "") throw invalidField(path, "expected the id of a stored file");
  return new FileReference(id, path);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function listIn(value: unknown, field: string): readonly unknown[] {
  if (isMissing(value)) return [];
  if (!Array.isArray(value)) throw invalidField(field, "expected an array");
  return value;
}

/** Counts by the declared types, before other checks. */
function refuseTooMany(list: readonly unknown[], field: string): void {
  for (const medium of MEDIA) {
    const count = list.filter((element) => isObject(element) && element.type === `${medium}_url`).length;
    if (count <= MAX_REFERENCES[medium]) continue;
    throw videoError(
      "too_many_references",
      `Cannot use ${count} references of type ${medium}_url in "${field}": expected at most ${MAX_REFERENCES[medium]}`,
      field,
    );
  }
  const max = MAX_REFERENCES.image + MAX_REFERENCES.audio + MAX_REFERENCES.video;
  if (list.length > max) {
    throw videoError("too_many_references", `Cannot use ${list.length} references: expected at most ${max}`, field);
  }
}

function framesOf(frames: readonly unknown[]): Pick<SentReferences, "firstFrame" | "lastFrame"> {
  let firstFrame: SentReference | null = null;
  let lastFrame: SentReference | null = null;
  for (const [index, element] of frames.entries()) {
    const field = `frame_images[${index}]`;
    const reference = referenceOf(element, field, ["image"]);
    const type = (element as { readonly frame_type?: unknown }).frame_type;
    if (type !== "first_frame" && type !== "last_frame") {
      throw invalidField(`${field}.frame_type`, "expected first_frame or last_frame");
    }
    if (type === "first_frame" ? firstFrame : lastFrame) throw invalidField(field, `expected one ${type}, got two`);
    if (type === "first_frame") firstFrame = reference;
    else lastFrame = reference;
  }
  if (lastFrame && !firstFrame) {
    throw invalidField(lastFrame.field, "expected a first_frame together with the last_frame");
  }
  return { firstFrame, lastFrame };
}

function referenceOf(element: unknown, field: string, media: readonly Medium[]): SentReference {
  if (!isObject(element)) throw invalidField(field, "expected an object");
  const medium = media.find((each) => element.type === `${each}_url`);
  if (!medium) {
    throw invalidField(`${field}.type`, `expected ${media.map((each) => `${each}_url`).join(" or ")}`);
  }
  const named = element[`${medium}_url`];
  const at = `${field}.${medium}_url`;
  if (!isObject(named)) throw invalidField(at, "expected an object with a url");
  if (!isMissing(named.file_id)) {
    const path = `${at}.file_id`;
    if (!isMissing(named.url)) throw invalidField(path, "expected it without url");
    return { medium, url: fileReferenceOf(named.file_id, path), field, path };
  }
  const path = `${at}.url`;
  if (!isSentMedia(named.url) || named.url === "") throw invalidField(path, "expected a URL or a data: URI");
  return { medium, url: named.url, field, path };
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof EmbeddedMedia);
}
