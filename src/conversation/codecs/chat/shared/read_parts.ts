import { isDataUri, plainBase64, readDataUri } from "../../../../platform/lib/media/data_uri.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type {
  CacheMark,
  FilePart,
  ImagePart,
  Part,
  ReasoningPart,
  Source,
  TextPart,
} from "../../../neutral/conversation.ts";
import { listOf, objectOf, textOf } from "../../../neutral/wire_value.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/**
 * The parts of a message's content.
 *
 * @param path The path of the content, for errors: `messages[2].content`.
 * @param unsupportedFields Receives the names of parts that have no neutral form.
 * @throws {GatewayError} `invalid_request` for a vendor's file id, which is not valid at other vendors.
 */
export function readContent(content: unknown, path: string, unsupportedFields: Set<string>): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  const parts: Part[] = [];
  listOf(content).forEach((entry, i) => {
    const fields = objectOf(entry);
    const part = fields && readPart(fields, `${path}[${i}]`, unsupportedFields);
    if (part) parts.push(part);
  });
  return parts;
}

function readPart(fields: JsonObject, path: string, unsupportedFields: Set<string>): Part | null {
  switch (fields.type) {
    case "text":
      return readText(fields);
    case "image_url":
      return readImage(fields);
    case "input_audio":
      return readAudio(objectOf(fields.input_audio) ?? {});
    case "file":
      return readFile(objectOf(fields.file) ?? {}, `${path}.file`, cacheOf(fields), unsupportedFields);
    case "video_url":
      return mediaFrom(addressOf(fields.video_url), "video");
    case "document_url":
      return mediaFrom(addressOf(fields.document_url), "file");
    case "thinking":
      return readThinking(fields);
    case "refusal":
      return textOf(fields.refusal) === "" ? null : { kind: "refusal", text: textOf(fields.refusal) };
    default:
      unsupportedFields.add(`messages.content.${textOf(fields.type)}`);
      return null;
  }
}

/** Reasoning in the content of one vendor: `{type: "thinking", thinking: [{type: "text", text}]}`, or a string. */
export function readThinking(fields: JsonObject): ReasoningPart | null {
  const text = textOf(fields.thinking) ||
    listOf(fields.thinking).map((piece) => textOf(objectOf(piece)?.text)).join("");
  return text === "" ? null : { kind: "reasoning", text };
}

function readText(fields: JsonObject): TextPart | null {
  const text = textOf(fields.text);
  return text === "" ? null : { kind: "text", text, ...cacheOf(fields) };
}

/** Reads `cache_control`, the spelling of gateways, and `prompt_cache_breakpoint`, that of OpenAI. */
export function cacheOf(fields: JsonObject): { readonly cache?: CacheMark } {
  const control = objectOf(fields.cache_control);
  if (!control && !objectOf(fields.prompt_cache_breakpoint)) return {};
  const ttl = control?.ttl;
  return { cache: { ttl: ttl === "5m" || ttl === "1h" ? ttl : null } };
}

function readImage(fields: JsonObject): Part {
  const detail = textOf(objectOf(fields.image_url)?.detail);
  const part = mediaFrom(addressOf(fields.image_url), "image");
  if (part.kind !== "image") return part;
  return { ...part, ...(detail && { detail }), ...cacheOf(fields) };
}

/** A URL given as an object with `url`, or as a string. */
function addressOf(value: unknown): string {
  return textOf(value) || textOf(objectOf(value)?.url);
}

/**
 * A media part. Its kind follows the media type of a data: URL, because callers send documents and videos as
 * `image_url`.
 */
function mediaFrom(address: string, kind: "image" | "file" | "video"): ImagePart | FilePart | Part {
  const source = readSource(address);
  const family = source.mediaType?.split("/", 1)[0];
  if (family === "image") return { kind: "image", source };
  if (family === "video") return { kind: "video", source };
  if (family === "audio") return { kind: "audio", source };
  if (kind === "file" || source.mediaType === "application/pdf") return { kind: "file", source, name: null };
  return { kind, source };
}

/** The source of media: the contents of a data: URL, or the URL. */
export function readSource(address: string): Source {
  const read = readDataUri(address);
  if (read === null) return { kind: "url", url: address, mediaType: null };
  return { kind: "base64", mediaType: read.mediaType, data: read.base64 };
}

const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: "audio/mpeg", wav: "audio/wav" };

function readAudio(audio: JsonObject): Part {
  const format = textOf(audio.format).toLowerCase();
  const data = textOf(audio.data);
  if (isDataUri(data)) return { kind: "audio", source: readSource(data) };
  const mediaType = ownValue(AUDIO_TYPES, format) ?? `audio/${format}`;
  return { kind: "audio", source: { kind: "base64", mediaType, data: plainBase64(data) } };
}

function readFile(
  file: JsonObject,
  path: string,
  cache: { cache?: CacheMark },
  unsupportedFields: Set<string>,
): Part | null {
  const data = textOf(file.file_data);
  if (data === "") {
    if (textOf(file.file_id) !== "") {
      throw invalidField(`${path}.file_id`, "file ids are not supported for this model; send the file's data instead");
    }
    unsupportedFields.add("messages.content.file");
    return null;
  }
  if (textOf(file.file_id) !== "") unsupportedFields.add("messages.content.file.file_id");
  const name = textOf(file.filename) || null;
  if (isDataUri(data) || /^https?:\/\//.test(data)) {
    return { kind: "file", source: readSource(data), name, ...cache };
  }
  const mediaType = name?.toLowerCase().endsWith(".txt") ? "text/plain" : "application/pdf";
  return { kind: "file", source: { kind: "base64", mediaType, data: plainBase64(data) }, name, ...cache };
}
