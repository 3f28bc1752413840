import { Buffer } from "node:buffer";
import { essenceOf } from "../../../../lib/content_type.ts";
import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { FilePart, ImagePart, Source } from "../../../conversation.ts";
import { portableAddressOf } from "../../../media_address.ts";
import { type Names, writeCache } from "../shared/fields.ts";

/** How the four kinds of pictures that this form takes begin, in base64. */
const PICTURE_STARTS: readonly (readonly [start: string, mediaType: string])[] = [
  ["/9j/", "image/jpeg"],
  ["iVBORw0KGgo", "image/png"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

/**
 * A picture as a block. The media type is told by the bytes where they are known, as vendors refuse a wrong one.
 *
 * @throws {GatewayError} `invalid_request` for a picture that this form does not take.
 */
export function writeImage(part: Omit<ImagePart, "kind">, losses: Names): JsonObject {
  if (part.detail !== undefined && part.detail !== "auto") losses.add("image_detail");
  return { type: "image", source: imageSource(part.source), ...writeCache(part.cache) };
}

function imageSource(source: Source): JsonObject {
  if (source.kind === "url") return { type: "url", url: portableAddressOf(source, "image") };
  const told = PICTURE_STARTS.find(([start]) => source.data.startsWith(start))?.[1];
  const mediaType = told ?? source.mediaType.replace("image/jpg", "image/jpeg");
  if (!PICTURE_STARTS.some(([, known]) => known === mediaType)) {
    throw notTaken("image", `this model's vendor takes JPEG, PNG, GIF and WebP, not ${mediaWord(source.mediaType)}`);
  }
  return { type: "base64", media_type: mediaType, data: source.data };
}

/**
 * A document as a block: PDF, or text of any kind.
 *
 * @throws {GatewayError} `invalid_request` for a document that this form does not take.
 */
export function writeFile(part: FilePart, losses: Names): JsonObject {
  const { source } = part;
  if (source.mediaType?.startsWith("image/")) return writeImage(part, losses);
  const title = part.name ? { title: part.name } : {};
  return { type: "document", source: documentSource(source), ...title, ...writeCache(part.cache) };
}

function documentSource(source: Source): JsonObject {
  if (source.kind === "url") return { type: "url", url: portableAddressOf(source, "file") };
  const mediaType = essenceOf(source.mediaType);
  if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data: source.data };
  if (!isText(mediaType)) {
    throw notTaken("file", `this model's vendor takes PDF and plain text, not ${mediaWord(mediaType)}`);
  }
  return { type: "text", media_type: "text/plain", data: Buffer.from(source.data, "base64").toString() };
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml)$/.test(mediaType);
}

/** The refusal of a request that rests on something this form cannot show. */
export function notTaken(field: string, why: string): Error {
  return invalidField(field, why);
}

/** A media type fit for an error's text: it comes from the caller. */
function mediaWord(mediaType: string): string {
  return /^[\w.+/-]{1,60}$/.test(mediaType) ? mediaType : "another kind";
}
