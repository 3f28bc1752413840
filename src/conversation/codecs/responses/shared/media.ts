import { Buffer } from "node:buffer";
import { isImageUri } from "../../../parts/request/picture_uri.ts";
import { isDataUri, plainBase64, readDataUri } from "../../../../platform/lib/media/data_uri.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { FilePart, ImagePart, Source } from "../../../neutral/conversation.ts";
import { type GatewayError, invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import { textOf, textOrNull } from "../../../neutral/wire_value.ts";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const MEDIA_TYPES_BY_EXTENSION: readonly (readonly [extension: string, mediaType: string])[] = [
  [".txt", "text/plain"],
  [".md", "text/markdown"],
  [".csv", "text/csv"],
  [".json", "application/json"],
  [".html", "text/html"],
];

/** The error for a reference that only its vendor can resolve. */
export function unsupportedReference(field: string, instead: string): GatewayError {
  return invalidField(field, `not supported for this model: ${instead}`);
}

/** Reads an image. @throws {GatewayError} For a vendor's file id, and for data that is not an image. */
export function readImage(part: JsonObject, path: string): ImagePart {
  if (textOrNull(part.file_id)) throw unsupportedReference(`${path}.file_id`, "send the image as image_url instead");
  const source = readAddress(textOf(part.image_url), `${path}.image_url`);
  if (source.kind === "base64" && !source.mediaType.startsWith("image/")) {
    throw invalidField(`${path}.image_url`, "expected a data URL of an image");
  }
  const detail = textOrNull(part.detail);
  return { kind: "image", source, ...(detail ? { detail } : {}) };
}

/** Reads a file. @throws {GatewayError} For a vendor's file id, and for invalid base64. */
export function readFile(part: JsonObject, path: string): FilePart {
  if (textOrNull(part.file_id)) {
    throw unsupportedReference(`${path}.file_id`, "send the file as file_data or file_url instead");
  }
  const name = textOrNull(part.filename);
  const data = textOf(part.file_data);
  if (data === "") return { kind: "file", source: readAddress(textOf(part.file_url), `${path}.file_url`), name };
  if (isDataUri(data)) return { kind: "file", source: readAddress(data, `${path}.file_data`), name };
  return { kind: "file", source: base64Source(mediaTypeOf(name), data, `${path}.file_data`), name };
}

function mediaTypeOf(name: string | null): string {
  const lower = name?.toLowerCase() ?? "";
  return MEDIA_TYPES_BY_EXTENSION.find(([extension]) => lower.endsWith(extension))?.[1] ?? "application/pdf";
}

function readAddress(url: string, path: string): Source {
  if (isDataUri(url)) return readDataUrl(url, path);
  if (/^https?:\/\//i.test(url)) return { kind: "url", url, mediaType: null };
  throw invalidField(path, "expected an http or https URL or a data URL");
}

function readDataUrl(url: string, path: string): Source {
  const read = readDataUri(url);
  const isRead = read !== null && (read.isBase64 || !read.mediaType.startsWith("image/") || isImageUri(url));
  if (!isRead) throw invalidField(path, 'expected "data:<media type>;base64,<data>"');
  return base64Source(read.mediaType, read.base64, path);
}

function base64Source(mediaType: string, text: string, path: string): Source {
  const data = plainBase64(text);
  if (data === "" || !BASE64.test(data)) throw invalidField(path, "expected base64 data");
  return { kind: "base64", mediaType, data };
}

/** The text of a plain text document; null for any other. Vendors of this format read few types other than PDF. */
export function plainTextOf(file: FilePart): string | null {
  const { source } = file;
  if (source.kind !== "base64") return null;
  if (!source.mediaType.startsWith("text/") && source.mediaType !== "application/json") return null;
  return Buffer.from(source.data, "base64").toString("utf8");
}
