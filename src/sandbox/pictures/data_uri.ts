import { type DecodedImage, decodeImage } from "./file.ts";

/** Reads a picture in a JSON body: a data URI, or plain base64. Returns null for anything else. */
export async function readInlineImage(text: unknown): Promise<DecodedImage | null> {
  if (typeof text !== "string") return null;
  const [head = "", type = "image/png"] = /^data:([^;,]+);base64,/.exec(text) ?? [];
  try {
    return await decodeImage(Uint8Array.fromBase64(text.slice(head.length)), type);
  } catch {
    return null; // not base64
  }
}
