import { imageSize } from "image-size";

/** What the first bytes of a picture state. */
export interface ImageFacts {
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp" | "image/gif";
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
}

/** The maximum number of leading bytes needed: a JPEG states its size after its colour profile and its thumbnail. */
export const IMAGE_HEAD_BYTES = 4_000_000;

/**
 * Reads the type and size of a picture from its own bytes, regardless of the declared type. Nothing is decoded.
 *
 * @param head The first bytes.
 * @returns Null if this is not a PNG, JPEG, WebP or GIF, or if these bytes do not state its size.
 */
export function imageFactsOf(head: Uint8Array): ImageFacts | null {
  const mediaType = mediaTypeOf(head);
  if (mediaType === null) return null;
  if (mediaType === "image/jpeg") return jpegFactsOf(head.subarray(0, IMAGE_HEAD_BYTES));
  try {
    const { width, height } = imageSize(head.subarray(0, IMAGE_HEAD_BYTES));
    return width > 0 && height > 0 ? { mediaType, width, height } : null;
  } catch {
    return null; // the library throws several types of error for broken or short data
  }
}

/** The type by its signature alone. The library would try every type it supports, some with slow searches. */
function mediaTypeOf(head: Uint8Array): ImageFacts["mediaType"] | null {
  const mark = String.fromCharCode(...head.subarray(0, 12));
  if (mark.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (mark.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(mark)) return "image/gif";
  return mark.startsWith("RIFF") && mark.startsWith("WEBP", 8) ? "image/webp" : null;
}

/** The library copies the rest of the file at each segment, which takes minutes for a file of many small segments. */
function jpegFactsOf(head: Uint8Array): ImageFacts | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  for (let at = 2; at + 9 < view.byteLength && view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at++; // a fill byte
    else if (marker === 0xda || marker === 0xd9) return null;
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return width > 0 && height > 0 ? { mediaType: "image/jpeg", width, height } : null;
    } else at += 2 + view.getUint16(at + 2);
  }
  return null;
}
