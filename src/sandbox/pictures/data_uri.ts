import { type ReadPicture, readPicture } from "./file.ts";

/** Reads a picture that stands in a JSON body: a data URI, or plain base64. Null for what is none. */
export async function readInlinePicture(text: unknown): Promise<ReadPicture | null> {
  if (typeof text !== "string") return null;
  const [head = "", type = "image/png"] = /^data:([^;,]+);base64,/.exec(text) ?? [];
  try {
    return await readPicture(Uint8Array.fromBase64(text.slice(head.length)), type);
  } catch {
    return null; // no base64
  }
}
