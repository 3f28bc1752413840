import { Late } from "../process/late.ts";

const fileTypeModule = new Late(() => import("file-type"));
/** The signature of every media type is within these first bytes. */
export const MEDIA_TYPE_HEAD_BYTES = 4_100;

/**
 * The types of images that nearly every vendor accepts. Vidu, MiniMax and Luma name just these. xAI, Runway, Replicate,
 * OpenRouter and Pika have no list for videos that could be read.
 */
export const DEFAULT_IMAGE_TYPES: readonly string[] = ["image/jpeg", "image/png", "image/webp"];

/**
 * Detects the media type of a file from its own bytes; null if the type is unknown.
 *
 * The library receives the head only. For some containers it visits every chunk or entry, which takes seconds for a
 * file of millions of empty ones.
 */
export async function mediaTypeOf(bytes: Uint8Array): Promise<string | null> {
  // Loaded on first use: a gateway that sees no media does not hold the library in memory.
  const { fileTypeFromBuffer } = await fileTypeModule.load();
  const mime = (await fileTypeFromBuffer(bytes.subarray(0, MEDIA_TYPE_HEAD_BYTES)))?.mime;
  // An animated PNG is a PNG, whose first frame every reader shows; few know the other name.
  return mime === "image/apng" ? "image/png" : mime ?? null;
}
