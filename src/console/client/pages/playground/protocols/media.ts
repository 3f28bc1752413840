import type { Media } from "../conversation.ts";

/** A file as an address with its content. Source: RFC 2397. */
export function dataUrl({ mediaType, data }: Pick<Media, "mediaType" | "data">): string {
  return `data:${mediaType};base64,${data}`;
}

/** Whether a file is a picture. */
export function isImage({ mediaType }: Pick<Media, "mediaType">): boolean {
  return mediaType.startsWith("image/");
}

/** The format of a recording that chat completions take; null for other files. */
export function audioFormat({ mediaType }: Pick<Media, "mediaType">): "wav" | "mp3" | null {
  if (/^audio\/(x-)?wav$/.test(mediaType)) return "wav";
  return /^audio\/(mpeg|mp3)$/.test(mediaType) ? "mp3" : null;
}

/** The text of a file in UTF-8. */
export function textOfFile({ data }: Pick<Media, "data">): string {
  return new TextDecoder().decode(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
}
