import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ImagePart, MediaPart, Source } from "../../../neutral/conversation.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { field } from "./fields.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  pdf: "application/pdf",
  txt: "text/plain",
  csv: "text/csv",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
};

/**
 * True when this format cannot refer to the source's address: it accepts bytes, `gs://` objects, its own Files API and
 * YouTube, but fetches nothing else from the web. Such media must be fetched and inlined before the request is written.
 */
export function needsInlining(source: Source): boolean {
  if (source.kind === "base64") return false;
  const { url } = source;
  if (url.startsWith("gs://")) return false;
  if (/^https:\/\/generativelanguage\.googleapis\.com\/(v\w+\/)?files\//.test(url)) return false;
  return !isYouTube(url);
}

function isYouTube(url: string): boolean {
  return /^https:\/\/((www|m|music)\.)?(youtube\.com|youtu\.be)\//.test(url);
}

/** Reads `inlineData` or `fileData`; the media type determines the kind. Null when the part has neither. */
export function readMedia(part: JsonObject): MediaPart | null {
  const inline = field(part, "inlineData");
  if (isObject(inline)) {
    const mediaType = textOrNull(field(inline, "mimeType")) ?? "application/octet-stream";
    const data = textOrNull(inline.data) ?? "";
    return mediaOf({ kind: "base64", mediaType, data: plainBase64Of(data) }, mediaType, nameIn(inline));
  }
  const file = field(part, "fileData");
  if (!isObject(file)) return null;
  const url = textOrNull(field(file, "fileUri")) ?? "";
  const mediaType = textOrNull(field(file, "mimeType"));
  const effectiveType = mediaType ?? mediaTypeOf(url) ?? (isYouTube(url) ? "video/mp4" : "");
  return mediaOf({ kind: "url", url, mediaType }, effectiveType, nameIn(file));
}

function nameIn(data: JsonObject): string | null {
  return textOrNull(field(data, "displayName"));
}

function mediaOf(source: Source, mediaType: string, name: string | null): MediaPart {
  if (mediaType.startsWith("image/")) return { kind: "image", source };
  if (mediaType.startsWith("audio/")) return { kind: "audio", source };
  if (mediaType.startsWith("video/")) return { kind: "video", source };
  return { kind: "file", source, name };
}

/**
 * Standard base64 without line breaks, as in the neutral form. Protobuf's JSON mapping also accepts the URL-safe
 * alphabet and missing padding.
 */
function plainBase64Of(data: string): string {
  const plain = /[-_\s]/.test(data) ? data.replaceAll("-", "+").replaceAll("_", "/").replaceAll(/\s/g, "") : data;
  return plain.length % 4 === 0 ? plain : plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
}

/**
 * Writes a media part.
 *
 * @throws {GatewayError} `invalid_request` if its address is one that {@linkcode needsInlining}.
 */
export function writeMedia(part: MediaPart): JsonObject {
  const { source } = part;
  if (source.kind === "base64") return { inlineData: { mimeType: source.mediaType, data: source.data } };
  if (needsInlining(source)) {
    throw invalidField(part.kind, "media by URL were not fetched for this model; send the data instead");
  }
  return fileDataOf(source);
}

/** Writes an image of a reply; any address is allowed. */
export function writeReplyImage(image: ImagePart): JsonObject {
  const { source } = image;
  return source.kind === "base64"
    ? { inlineData: { mimeType: source.mediaType, data: source.data } }
    : fileDataOf(source);
}

function fileDataOf(source: { url: string; mediaType: string | null }): JsonObject {
  const mimeType = source.mediaType ?? mediaTypeOf(source.url);
  return { fileData: mimeType === null ? { fileUri: source.url } : { mimeType, fileUri: source.url } };
}

function mediaTypeOf(url: string): string | null {
  // What follows is not matched: a pattern would search it again at each dot.
  const extension = /\.([A-Za-z0-9]+)(?=[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? "";
  return ownValue(MEDIA_TYPES, extension) ?? null;
}
