import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type {
  AudioPart,
  CacheMark,
  Citation,
  FilePart,
  Part,
  ShownPart,
  ToolResultPart,
} from "../../../neutral/conversation.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import { EMPTY_ERROR } from "../../../parts/request/pairing.ts";
import { portableAddressOf } from "../../../parts/request/media_address.ts";
import { writeBreakpoint } from "../../../parts/request/cache_breakpoints.ts";
import type { FactTarget } from "../../../contract/upstream_format.ts";
import { plainTextOf, readFile, readImage } from "./media.ts";
import { isObject, numberOrNull, objectOf, objectsOf, textOf, textOrNull } from "../../../neutral/wire_value.ts";

/** Reads one part of a user, system or developer message; null for an empty or unknown one. */
export function readUserPart(
  part: JsonObject,
  path: string,
  unsupportedFields: Set<string>,
): ShownPart | AudioPart | null {
  if (part.type === "input_audio") return readAudio(part, path);
  return readShown(part, path, unsupportedFields);
}

/** Reads one part of an assistant message; null for an empty or unknown one. */
export function readAssistantPart(part: JsonObject, path: string, unsupportedFields: Set<string>): Part | null {
  if (part.type === "refusal") return part.refusal ? { kind: "refusal", text: textOf(part.refusal) } : null;
  return readShown(part, path, unsupportedFields);
}

/** Reads the output of a tool: a string or a list of parts. */
export function readOutput(output: unknown, path: string, unsupportedFields: Set<string>): ShownPart[] {
  if (typeof output === "string") return output === "" ? [] : [{ kind: "text", text: output }];
  return objectsOf(output).flatMap((part, index) => readShown(part, `${path}[${index}]`, unsupportedFields) ?? []);
}

/** Reads `prompt_cache_breakpoint`, and `cache_control`, the spelling of relays. */
function cacheOf(part: JsonObject): { cache?: CacheMark } {
  const control = objectOf(part.cache_control);
  if (control === null && !isObject(part.prompt_cache_breakpoint)) return {};
  const ttl = control?.ttl;
  return { cache: { ttl: ttl === "5m" || ttl === "1h" ? ttl : null } };
}

function readShown(part: JsonObject, path: string, unsupportedFields: Set<string>): ShownPart | null {
  const cache = cacheOf(part);
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text": {
      const text = textOf(part.text);
      return text === "" ? null : { kind: "text", text, ...citationsField(part), ...cache };
    }
    case "input_image":
      return { ...readImage(part, path), ...cache };
    case "input_file":
      if (part.file_data && part.file_url) unsupportedFields.add(`${path.replace(/\[\d+\]/g, "")}.file_url`);
      return { ...readFile(part, path), ...cache };
    default:
      unsupportedFields.add(`input.content.${textOf(part.type)}`);
      return null;
  }
}

function readAudio(part: JsonObject, path: string): AudioPart {
  const audio = isObject(part.input_audio) ? part.input_audio : {};
  const [data, format] = [textOf(audio.data), textOf(audio.format)];
  if (data === "") throw invalidField(`${path}.input_audio.data`, "expected base64 data");
  if (format !== "wav" && format !== "mp3") throw invalidField(`${path}.input_audio.format`, 'expected "wav" or "mp3"');
  return { kind: "audio", source: { kind: "base64", mediaType: format === "mp3" ? "audio/mpeg" : "audio/wav", data } };
}

/** The web sources of an `output_text`, as a field to spread; empty where there are none. */
export function citationsField(part: JsonObject): { citations?: readonly Citation[] } {
  const citations = citationsOf(part.annotations);
  return citations.length > 0 ? { citations } : {};
}

/** The web sources among annotations. Citations of files refer to vendor state and are not read. */
export function citationsOf(annotations: unknown): Citation[] {
  return objectsOf(annotations).filter(({ type }) => type === "url_citation").map((annotation) => ({
    url: textOf(annotation.url),
    title: textOrNull(annotation.title),
    start: numberOrNull(annotation.start_index),
    end: numberOrNull(annotation.end_index),
  }));
}

/** The inverse of {@linkcode citationsOf}; a source without offsets covers the whole text. */
export function annotationsOf(text: string, citations: readonly Citation[] = []): JsonObject[] {
  return citations.map(({ url, title, start, end }) => ({
    type: "url_citation",
    url,
    title: title ?? "",
    start_index: start ?? 0,
    end_index: end ?? text.length,
  }));
}

/**
 * Writes one part of a user message.
 *
 * @throws {GatewayError} `invalid_request` for audio and video, which this format does not support.
 */
export function writeUserPart(part: Part, target: FactTarget, droppedFields: Set<string>): JsonObject | null {
  switch (part.kind) {
    case "audio":
      // The official clients have a type for `input_audio`, but the vendor rejects it. Source: Responses API, "Input
      // audio".
      throw invalidField("audio", "this model does not support audio input; send text, images or files");
    case "video":
      throw invalidField("video", "this model does not support video input; send text, images or files");
    case "text":
    case "image":
    case "file":
      return writeShown(part, target, droppedFields);
    default:
      droppedFields.add("turn_order");
      return null;
  }
}

function writeShown(part: ShownPart, target: FactTarget, droppedFields: Set<string>): JsonObject {
  return { ...writeUnmarked(part, droppedFields), ...writeBreakpoint(part.cache, target, droppedFields) };
}

function writeUnmarked(part: ShownPart, droppedFields: Set<string>): JsonObject {
  switch (part.kind) {
    case "text":
      if (part.citations) droppedFields.add("citations");
      return { type: "input_text", text: part.text };
    case "image":
      return {
        type: "input_image",
        image_url: portableAddressOf(part.source, "image"),
        ...(part.detail ? { detail: part.detail } : {}),
      };
    case "file":
      return writeFile(part, droppedFields);
  }
}

function writeFile(part: FilePart, droppedFields: Set<string>): JsonObject {
  if (part.source.kind === "url") {
    if (part.name !== null) droppedFields.add("file_name");
    return { type: "input_file", file_url: portableAddressOf(part.source, "file") };
  }
  const text = plainTextOf(part);
  if (text !== null) return { type: "input_text", text: part.name === null ? text : `${part.name}:\n${text}` };
  return {
    type: "input_file",
    filename: part.name ?? "document.pdf",
    file_data: portableAddressOf(part.source, "file"),
  };
}

/** Writes the output of a tool. A single text is sent as a string, which every vendor accepts. */
export function writeOutput(result: ToolResultPart, target: FactTarget, droppedFields: Set<string>): unknown {
  const mark = writeBreakpoint(result.cache, target, droppedFields);
  if (result.isError) droppedFields.add("tool_error");
  const texts = result.parts.filter((part) => part.kind === "text");
  if (texts.length === result.parts.length && (texts.length <= 1 || target.quirks.has("no_text_parts"))) {
    const text = texts.map((part) => part.text).join("\n") || (result.isError ? EMPTY_ERROR : "");
    const marks = texts.map(({ cache }) => writeBreakpoint(cache, target, droppedFields));
    const isMarked = [mark, ...marks].some((each) => each.prompt_cache_breakpoint !== undefined);
    if (isMarked && text === "") droppedFields.add("cache_control"); // nothing is there to be marked
    return isMarked && text !== "" ? [{ type: "input_text", text, ...Object.assign({}, mark, ...marks) }] : text;
  }
  const written = result.parts.map((part) => writeShown(part, target, droppedFields));
  const last = written.at(-1);
  return last === undefined ? written : written.with(-1, { ...last, ...mark });
}
