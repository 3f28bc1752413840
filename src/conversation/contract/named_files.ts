import { Buffer } from "node:buffer";
import { isObject } from "../neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** A stored file with its content, which takes the place of its id in a request. */
export interface CarriedFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As it was stored. */
  readonly name: string;
}

/** A place of a request that names a file. */
export interface NamedFile {
  /** The id, or the address, as it was sent. */
  readonly id: string;
  /** The path in the caller's spelling: `input[0].content[1].file_id`. */
  readonly field: string;
  /**
   * Puts the content in the place of the id, in the request that was searched.
   *
   * @throws {GatewayError} `invalid_request` if this kind of part cannot have the file's type.
   */
  put(file: CarriedFile): void;
}

/**
 * Finds the places of a request that name a file, in order. The request may be unchecked.
 *
 * @param body It is changed by {@linkcode NamedFile.put}.
 */
export type NamedFilesIn = (body: JsonObject) => NamedFile[];

/** The content as a `data:` URI. */
export function dataUriOfFile(file: CarriedFile): string {
  return `data:${file.mediaType};base64,${base64OfFile(file)}`;
}

/** The content as base64. */
export function base64OfFile({ bytes }: CarriedFile): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/** The first part of a media type: `image`. */
export function familyOf({ mediaType }: CarriedFile): string {
  return mediaType.split("/", 1).join();
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/vnd.wave": "wav",
  "audio/wave": "wav",
  "audio/x-wav": "wav",
};

/** A sound as the formats of OpenAI have it: `{data, format}`. */
export function inputAudioOf(file: CarriedFile): JsonObject {
  const { mediaType } = file;
  return {
    data: base64OfFile(file),
    format: ownValue(AUDIO_FORMATS, mediaType) ?? mediaType.replace(/^audio\/(x-)?/, ""),
  };
}

/** The text of a document; null for any other file. */
export function documentText({ mediaType, bytes }: CarriedFile): string | null {
  return isTextType(mediaType) ? new TextDecoder().decode(bytes) : null;
}

function isTextType(mediaType: string): boolean {
  return mediaType.startsWith("text/") || mediaType === "application/json";
}

/** The text of a document below its name, as the codecs write it for vendors without text documents. */
export function namedText(name: string, text: string): string {
  return `${name}:\n${text}`;
}

/** A part in a list, which another one can replace. */
export interface FoundPart {
  readonly part: JsonObject;
  /** The path of the part. */
  readonly path: string;
  replace(part: JsonObject): void;
}

/** The objects of a list, with their paths. */
export function partsIn(list: unknown, path: string): FoundPart[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((part: unknown, index): FoundPart[] => {
    if (!isObject(part)) return [];
    const replace = (other: JsonObject) => void (list[index] = other);
    return [{ part, path: `${path}[${index}]`, replace }];
  });
}

/** An object without some members. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
