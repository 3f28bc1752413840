import { imageSize } from "image-size";

/** What the first bytes of a picture tell. */
export interface PictureFacts {
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp";
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
}

/** How many first bytes are needed at most: a JPEG tells its size behind its colour profile and its thumbnail. */
export const PICTURE_HEAD_BYTES = 4_000_000;

/** The most pixels of a picture. */
export const MOST_PIXELS = 64_000_000;

/**
 * Type and size of a picture by its own bytes, whatever a sender calls it; nothing is decoded.
 *
 * @param head Its first bytes.
 * @returns Null for what is no PNG, JPEG or WebP, or does not tell its size in these bytes.
 */
export function pictureFactsOf(head: Uint8Array): PictureFacts | null {
  const mediaType = mediaTypeOf(head);
  if (mediaType === null) return null;
  try {
    const { width, height } = imageSize(head);
    return width > 0 && height > 0 ? { mediaType, width, height } : null;
  } catch {
    return null; // the library throws errors of several kinds for heads that are broken or too short
  }
}

function mediaTypeOf(head: Uint8Array): PictureFacts["mediaType"] | null {
  const mark = String.fromCharCode(...head.subarray(0, 12));
  if (mark.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (mark.startsWith("\xff\xd8\xff")) return "image/jpeg";
  return mark.startsWith("RIFF") && mark.startsWith("WEBP", 8) ? "image/webp" : null;
}
