import { Buffer } from "node:buffer";
import { essenceOf } from "../../../../platform/lib/media/content_type.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { FilePart, ImagePart, Source } from "../../../neutral/conversation.ts";
import { commonImageType, portableAddressOf } from "../../../parts/request/media_address.ts";
import { type FieldNames, writeCache } from "../shared/fields.ts";

/**
 * Writes an image. Its media type is detected from the bytes if possible, because vendors reject a wrong one.
 *
 * @throws {GatewayError} `invalid_request` for an unsupported image type.
 */
export function writeImage(part: Omit<ImagePart, "kind">, droppedFields: FieldNames): JsonObject {
  if (part.detail !== undefined && part.detail !== "auto") droppedFields.add("image_detail");
  return { type: "image", source: imageSource(part.source), ...writeCache(part.cache) };
}

function imageSource(source: Source): JsonObject {
  if (source.kind === "url") return { type: "url", url: portableAddressOf(source, "image") };
  const mediaType = commonImageType(source);
  if (mediaType === null) {
    throw unsupportedMedia(
      "image",
      `expected JPEG, PNG, GIF or WebP for this model, got ${printableType(source.mediaType)}`,
    );
  }
  return { type: "base64", media_type: mediaType, data: source.data };
}

/**
 * Writes a document: PDF, or text of any type.
 *
 * @throws {GatewayError} `invalid_request` for an unsupported document type.
 */
export function writeFile(part: FilePart, droppedFields: FieldNames): JsonObject {
  const { source } = part;
  if (source.mediaType?.startsWith("image/")) return writeImage(part, droppedFields);
  const title = part.name ? { title: part.name } : {};
  return { type: "document", source: documentSource(source), ...title, ...writeCache(part.cache) };
}

function documentSource(source: Source): JsonObject {
  if (source.kind === "url") return { type: "url", url: portableAddressOf(source, "file") };
  const mediaType = essenceOf(source.mediaType);
  if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data: source.data };
  if (!isText(mediaType)) {
    throw unsupportedMedia("file", `expected PDF or plain text for this model, got ${printableType(mediaType)}`);
  }
  return { type: "text", media_type: "text/plain", data: Buffer.from(source.data, "base64").toString() };
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml)$/.test(mediaType);
}

/** The error for media that the request depends on and that this format does not support. */
export function unsupportedMedia(field: string, why: string): Error {
  return invalidField(field, why);
}

/** A media type for an error message, checked because it comes from the caller. */
function printableType(mediaType: string): string {
  return /^[\w.+/-]{1,60}$/.test(mediaType) ? mediaType : "another type";
}
