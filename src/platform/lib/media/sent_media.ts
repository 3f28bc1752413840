import { bytesOfBase64, isDataUri, plainBase64, readDataUri } from "./data_uri.ts";

/** The content that a caller wrote into a request as text, decoded. */
export class EmbeddedMedia {
  constructor(
    /** Null if the text is malformed or has no content. They may move to a thread, so they are read once. */
    readonly bytes: Uint8Array<ArrayBuffer> | null,
    /** Whether they were written in base64, and not as text with escapes. */
    readonly isBase64: boolean,
    /** The length of the text, in UTF-16 code units. */
    readonly characters: number,
  ) {}
}

/** A place of a request that has the id of a stored file in place of a content. */
export class FileReference {
  constructor(
    /** As the caller sent it. */
    readonly id: string,
    /** The field of the id, for errors. */
    readonly field: string,
  ) {}
}

/** Media in a request: an address or a content as text, or a content that was decoded when the body was read. */
export type SentMedia = string | EmbeddedMedia;

const ADDRESS = /^[a-z][a-z0-9+.-]*:/i;
const MAX_SCHEME_CHARACTERS = 40;

/** Whether a text begins as an address does. A `data:` URI is one. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text.slice(0, MAX_SCHEME_CHARACTERS));
}

/** Whether a value of a body can be media. */
export function isSentMedia(value: unknown): value is SentMedia {
  return typeof value === "string" || value instanceof EmbeddedMedia;
}

/** Decodes a `data:` URI. Any other text is returned as it is. */
export function decodedMedia(media: SentMedia): SentMedia {
  if (typeof media !== "string" || !isDataUri(media)) return media;
  const read = readDataUri(media);
  return new EmbeddedMedia(read && bytesOfBase64(read.base64), read?.isBase64 ?? false, media.length);
}

/** Decodes a `data:` URI, or base64 in either alphabet. An address is returned as it is. */
export function decodedBase64(media: SentMedia): SentMedia {
  if (typeof media !== "string" || isAddress(media)) return decodedMedia(media);
  return new EmbeddedMedia(bytesOfBase64(plainBase64(media)), true, media.length);
}
