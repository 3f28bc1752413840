import { fileTypeFromBuffer } from "file-type";

/** Every signature of a media type is in these first bytes. */
export const MEDIA_TYPE_HEAD_BYTES = 4_100;

/**
 * The media type of a file by its own bytes; null when it is of no known type.
 *
 * Only the head is given to the library: it visits every chunk or entry of some containers, which takes seconds for a
 * file of millions of empty ones.
 */
export async function mediaTypeOf(bytes: Uint8Array): Promise<string | null> {
  return (await fileTypeFromBuffer(bytes.subarray(0, MEDIA_TYPE_HEAD_BYTES)))?.mime ?? null;
}
