import { Buffer } from "node:buffer";
import { type GatewayError, invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { AudioPart, FilePart, ImagePart, Part, VideoPart } from "../../../neutral/conversation.ts";
import { portableAddressOf } from "../../../parts/request/media_address.ts";
import { writeBreakpoint } from "../../../parts/request/cache_breakpoints.ts";
import type { Writing } from "./writing.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** Separates texts of a user that are joined for a vendor without text parts. */
const TEXT_BREAK = "\n\n";

/** A part that a user message can contain. */
export type UserPart = Part & { readonly kind: "text" | "image" | "file" | "audio" | "video" | "refusal" };

/**
 * Writes one part of a user message.
 *
 * @throws {GatewayError} `invalid_request` for media that the vendor does not support, because the request would change
 * its meaning without them.
 */
export function writePart(part: UserPart, writing: Writing): JsonObject {
  switch (part.kind) {
    case "text":
    case "refusal":
      if (part.kind === "refusal") return { type: "text", text: part.text };
      if (part.citations?.length) writing.droppedFields.add("citations");
      return { type: "text", text: part.text, ...writeBreakpoint(part.cache, writing.target, writing.droppedFields) };
    case "image":
      return writeImage(part, writing);
    case "file":
      return writeFile(part, writing);
    case "audio":
      return writeAudio(part, writing);
    case "video":
      return writeVideo(part, writing);
  }
}

/**
 * A message's content: a string for a single text and for vendors without text parts, otherwise the parts.
 *
 * @param textBreak Separates the texts for vendors without text parts.
 */
export function writeContent(
  parts: readonly JsonObject[],
  { target }: Pick<Writing, "target">,
  textBreak = TEXT_BREAK,
): unknown {
  if (parts.length === 0) return "";
  const isTextOnly = parts.every((part) => part.type === "text" && part.prompt_cache_breakpoint === undefined);
  if (isTextOnly && (parts.length === 1 || target.quirks.has("no_text_parts"))) {
    return parts.map((part) => part.text).join(textBreak);
  }
  return parts;
}

function writeImage({ source, detail, cache }: ImagePart, { target, droppedFields }: Writing): JsonObject {
  // "high" is the highest resolution of this format.
  if (detail === "original") droppedFields.add("image_detail");
  const resolution = detail === undefined ? {} : { detail: detail === "original" ? "high" : detail };
  const mark = writeBreakpoint(cache, target, droppedFields);
  return { type: "image_url", image_url: { url: portableAddressOf(source, "image"), ...resolution }, ...mark };
}

/** Writes a document. Plain text is sent as text, because vendors of this format support few document types. */
function writeFile({ source, name, cache }: FilePart, { target, droppedFields }: Writing): JsonObject {
  const mark = writeBreakpoint(cache, target, droppedFields);
  const refusesFiles = target.quirks.has("no_file_parts");
  if (refusesFiles && (source.kind === "url" || !isText(source.mediaType))) {
    throw unsupported("file", "documents other than text; send their text or images of their pages");
  }
  if (source.kind === "url") {
    if (!target.quirks.has("file_addresses")) throw unsupported("file", "files by URL; send the file's data");
    return {
      type: "file",
      file: { filename: name ?? "document.pdf", file_data: portableAddressOf(source, "file") },
      ...mark,
    };
  }
  if (isText(source.mediaType)) {
    const text = Buffer.from(source.data, "base64").toString();
    return { type: "text", text: name === null ? text : `${name}:\n${text}`, ...mark };
  }
  const extension = source.mediaType.split(/[/+.]/).pop();
  return {
    type: "file",
    file: { filename: name ?? `document.${extension}`, file_data: portableAddressOf(source, "file") },
    ...mark,
  };
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /^application\/(json|xml|yaml|x-yaml|javascript)$/.test(mediaType);
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
};

function writeAudio({ source }: AudioPart, { target }: Writing): JsonObject {
  if (source.kind === "url") throw unsupported("audio", "audio by URL; send the audio's data");
  const format = ownValue(AUDIO_FORMATS, source.mediaType) ??
    (target.quirks.has("any_audio_format") ? source.mediaType.replace(/^audio\/(x-)?/, "") : null);
  if (format === null) throw unsupported("audio", `audio of type "${source.mediaType}"; send wav or mp3`);
  return { type: "input_audio", input_audio: { data: source.data, format } };
}

function writeVideo({ source }: VideoPart, { target }: Writing): JsonObject {
  if (!target.quirks.has("video_parts")) throw unsupported("video", "video input");
  return { type: "video_url", video_url: { url: portableAddressOf(source, "video") } };
}

/** @param loss The neutral name of the part that the vendor does not support. */
function unsupported(loss: string, what: string): GatewayError {
  return invalidField(loss, `this model does not support ${what}`);
}
