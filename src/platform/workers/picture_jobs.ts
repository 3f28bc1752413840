import { imageFactsOf } from "../lib/media/picture_head.ts";
import { findImageProblem, type ImageProblem } from "./picture_problem.ts";

/**
 * Checks whether a picture can be decoded; null if it can. Takes about 20 ms of processor time per megapixel and cannot
 * be interrupted.
 */
export async function findDecodingProblem(bytes: Uint8Array<ArrayBuffer>): Promise<ImageProblem | null> {
  const opened = await openPicture(bytes);
  if (typeof opened === "string") return opened;
  opened.close();
  return null;
}

/** How a picture is re-encoded. */
export interface ReencodeOptions {
  readonly mediaType: "image/png" | "image/jpeg";
  /** The maximum length of the longer side in pixels. */
  readonly maxSide: number;
}

/**
 * Decodes a picture, reduces it if it is too large, and encodes it again. Decoding applies the stored orientation, and
 * encoding drops all metadata.
 */
export async function reencodeImage(
  bytes: Uint8Array<ArrayBuffer>,
  { mediaType, maxSide }: ReencodeOptions,
): Promise<Uint8Array<ArrayBuffer> | ImageProblem> {
  const decoded = await openPicture(bytes);
  if (typeof decoded === "string") return decoded;
  const scale = Math.min(1, maxSide / Math.max(decoded.width, decoded.height));
  const picture = scale === 1 ? decoded : await createImageBitmap(decoded, {
    resizeWidth: Math.max(1, Math.round(decoded.width * scale)),
    resizeHeight: Math.max(1, Math.round(decoded.height * scale)),
    resizeQuality: "high",
  });
  if (picture !== decoded) decoded.close();
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("bitmaprenderer")!.transferFromImageBitmap(picture);
  const blob = await canvas.convertToBlob({ type: mediaType, quality: 0.92 });
  return new Uint8Array(await blob.arrayBuffer());
}

async function openPicture(bytes: Uint8Array<ArrayBuffer>): Promise<ImageBitmap | ImageProblem> {
  const facts = imageFactsOf(bytes);
  if (facts === null) return "not_image";
  const mistake = findImageProblem(bytes, facts);
  if (mistake !== null) return mistake;
  try {
    return await createImageBitmap(new Blob([bytes], { type: facts.mediaType }));
  } catch {
    return "not_image"; // the decoder gives no reason
  }
}
