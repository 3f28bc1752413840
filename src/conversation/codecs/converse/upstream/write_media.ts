import { essenceOf } from "../../../../platform/lib/media/content_type.ts";
import { type GatewayError, invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";
import { commonImageType } from "../../../parts/request/media_address.ts";
import type { AudioPart, FilePart, ImagePart, MediaPart, Source, VideoPart } from "../../../neutral/conversation.ts";
import type { DocumentNames } from "./document_names.ts";
import type { Writing } from "./writing.ts";

/**
 * Writes an image.
 *
 * @throws {GatewayError} `invalid_request` for an unsupported type.
 */
export function writeImage({ source, detail }: Omit<ImagePart, "kind">, { droppedFields }: Writing): JsonObject {
  if (detail !== undefined && detail !== "auto") droppedFields.add("image_detail");
  const inline = inlineOf(source, "image");
  const type = commonImageType(inline);
  if (type === null) throw unsupported("image", "expected JPEG, PNG, GIF or WebP for this model", inline);
  return { image: { format: type.slice("image/".length), source: { bytes: inline.data } } };
}

const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/markdown": "md",
};

/**
 * Writes a document.
 *
 * @throws {GatewayError} `invalid_request` for an unsupported type.
 */
export function writeFile(part: FilePart, names: DocumentNames, writing: Writing): JsonObject {
  if (part.source.mediaType?.startsWith("image/")) return writeImage(part, writing);
  const inline = inlineOf(part.source, "file");
  const type = essenceOf(inline.mediaType);
  const format = ownValue(DOCUMENT_FORMATS, type) ?? (isText(type) ? "txt" : null);
  if (format === null) throw unsupported("file", "expected PDF, Word, Excel or text for this model", inline);
  const name = names.unique(part.name);
  // The format states the extension.
  const isSame = part.name === null || part.name === name || part.name === `${name}.${format}`;
  if (!isSame) writing.droppedFields.add("file_name");
  return { document: { format, name, source: { bytes: inline.data } } };
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml)$/.test(mediaType);
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
  "audio/opus": "opus",
  "audio/aac": "aac",
  "audio/mp4": "m4a",
  "audio/m4a": "m4a",
  "audio/webm": "webm",
};

/**
 * Writes sound.
 *
 * @throws {GatewayError} `invalid_request` for an unsupported type.
 */
export function writeAudio({ source }: AudioPart): JsonObject {
  return { audio: mediumIn(source, "audio", AUDIO_FORMATS) };
}

const VIDEO_FORMATS: Readonly<Record<string, string>> = {
  "video/mp4": "mp4",
  "video/webm": "webm",
  "video/quicktime": "mov",
  "video/x-matroska": "mkv",
  "video/x-flv": "flv",
  "video/mpeg": "mpeg",
  "video/x-ms-wmv": "wmv",
  "video/3gpp": "three_gp",
};

/**
 * Writes a video.
 *
 * @throws {GatewayError} `invalid_request` for an unsupported type.
 */
export function writeVideo({ source }: VideoPart): JsonObject {
  return { video: mediumIn(source, "video", VIDEO_FORMATS) };
}

function mediumIn(source: Source, kind: "audio" | "video", formats: Readonly<Record<string, string>>): JsonObject {
  const inline = inlineOf(source, kind);
  const format = ownValue(formats, essenceOf(inline.mediaType));
  if (format === undefined) {
    throw unsupported(kind, `expected ${[...new Set(Object.values(formats))].join(", ")} for this model`, inline);
  }
  return { format, source: { bytes: inline.data } };
}

type InlineSource = Source & { readonly kind: "base64" };

/** @throws {GatewayError} `invalid_request` for an address: those that the gateway can read were downloaded before. */
function inlineOf(source: Source, kind: MediaPart["kind"]): InlineSource {
  if (source.kind === "base64") return source;
  throw invalidField(kind, "the file is stored at another vendor; send its data or a public http or https URL");
}

function unsupported(kind: MediaPart["kind"], expected: string, { mediaType }: InlineSource): GatewayError {
  // The type comes from the caller.
  const shown = /^[\w.+/-]{1,60}$/.test(mediaType) ? mediaType : "another type";
  return invalidField(kind, `${expected}, got ${shown}`);
}
