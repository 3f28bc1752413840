import type { ImageFacts } from "../lib/media/picture_head.ts";

/** The maximum decoded size of one picture: 64 megapixels with four channels. */
const MAX_DECODED_BYTES = 256_000_000;

/** A progressive JPEG has about ten scans. The decoder passes over the whole picture once per scan. */
const MAX_JPEG_SCANS = 64;

/** What is wrong with a picture, by the words of the video endpoints. Source: docs/api/errors.md#reason-codes. */
export type ImageProblem = "too_large" | "not_image";

/**
 * Checks whether a picture is safe to decode although its stated size is allowed; null if it is. Without this check a
 * file of some kilobytes can take gigabytes, or minutes of processor time that cannot be interrupted. The check itself
 * can take a second and must run in a thread.
 *
 * @param bytes The whole file.
 */
export function findImageProblem(
  bytes: Uint8Array,
  { mediaType, width, height }: ImageFacts,
): ImageProblem | null {
  const bytesPerPixel = mediaType === "image/png" && bytes[24] === 16 ? 8 : 4;
  if (width * height * bytesPerPixel > MAX_DECODED_BYTES) return "too_large";
  switch (mediaType) {
    case "image/jpeg":
      if (jpegScansOf(bytes) > MAX_JPEG_SCANS) return "too_large";
      return isWholeJpeg(bytes) ? null : "not_image";
    case "image/gif":
      return isGifFrameInside(bytes, width, height) ? null : "not_image";
    case "image/webp":
      return isWebpFrameInside(bytes, width, height) ? null : "not_image";
    case "image/png":
      return null;
  }
}

/**
 * Whether the end marker follows the first scan; the decoder would fill missing parts with grey. In a scan, 0xff is
 * followed by zero or a marker, so picture data never contains the end marker (ITU-T T.81, B.1.1).
 */
function isWholeJpeg(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda) {
    const isFill = bytes[at + 1] === 0xff;
    at += isFill ? 1 : 2 + view.getUint16(at + 2);
  }
  for (let mark = at + 2; (mark = bytes.indexOf(0xff, mark)) >= 0; mark++) if (bytes[mark + 1] === 0xd9) return true;
  return false;
}

/** The number of scans. In a scan, 0xff is followed by zero or a marker (ITU-T T.81, B.1.1). */
function jpegScansOf(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  let scans = 0;
  for (let at = bytes.indexOf(0xff, 2); at >= 0 && at + 3 < bytes.length && scans <= MAX_JPEG_SCANS;) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xda) scans++;
    const isSegment = marker >= 0xc0 && marker !== 0xff && !(marker >= 0xd0 && marker <= 0xd9);
    at = bytes.indexOf(0xff, at + (isSegment ? 2 + view.getUint16(at + 2) : marker === 0xff ? 1 : 2));
  }
  return scans;
}

/** The signature and the logical screen descriptor. Source: GIF89a, sections 17 and 18. */
const GIF_HEAD_BYTES = 13;

/** Source: GIF89a, sections 18 to 20, 23 and 24. */
function isGifFrameInside(bytes: Uint8Array, width: number, height: number): boolean {
  if (bytes.length < GIF_HEAD_BYTES) return false;
  const view = viewOf(bytes);
  const flags = view.getUint8(10);
  const u16 = (at: number) => view.getUint16(at, true);
  const tableBytes = flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
  for (let at = GIF_HEAD_BYTES + tableBytes; at < bytes.length;) {
    if (bytes[at] === 0x2c) {
      return at + 9 <= bytes.length && u16(at + 1) + u16(at + 5) <= width && u16(at + 3) + u16(at + 7) <= height;
    }
    if (bytes[at] !== 0x21) return false;
    at += 2;
    for (let size = bytes[at]; size; size = bytes[at]) at += size + 1;
    at++;
  }
  return false;
}

/** Frames of an extended WebP state a size of their own. Source: RFC 9649, 2.5 to 2.7. */
function isWebpFrameInside(bytes: Uint8Array, width: number, height: number): boolean {
  const view = viewOf(bytes);
  const u24 = (at: number) => view.getUint16(at, true) | view.getUint8(at + 2) << 16;
  for (let at = 12; at + 18 <= bytes.length;) {
    const type = String.fromCharCode(...bytes.subarray(at, at + 4));
    const body = at + 8;
    if (type === "ANMF" && body + 40 <= bytes.length) {
      if (u24(body + 6) + 1 > width || u24(body + 9) + 1 > height) return false;
      at = body + 16; // the frame's own chunks
      continue;
    }
    if (type === "VP8 ") {
      return (view.getUint16(body + 6, true) & 0x3fff) <= width && (view.getUint16(body + 8, true) & 0x3fff) <= height;
    }
    if (type === "VP8L") {
      const bits = view.getUint32(body + 1, true);
      return (bits & 0x3fff) + 1 <= width && (bits >>> 14 & 0x3fff) + 1 <= height;
    }
    const length = view.getUint32(at + 4, true);
    at = body + length + length % 2;
  }
  return false;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
