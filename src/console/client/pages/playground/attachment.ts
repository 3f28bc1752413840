import type { Media } from "./conversation.ts";

/** The largest file. With its base64, a request stays below the limit of a body. */
export const MAX_FILE_BYTES = 15 * 1_048_576;

/** The types of files by their names, where the browser does not report one. */
const TYPES: Readonly<Record<string, string>> = {
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  ts: "text/plain",
  py: "text/plain",
  log: "text/plain",
};

/**
 * Reads a file that a person has chosen.
 *
 * @throws {RangeError} If it is too large.
 * @throws {DOMException} If it cannot be read.
 */
export async function readAttachment(file: File): Promise<Media> {
  if (file.size > MAX_FILE_BYTES) throw new RangeError(file.name);
  const extension = file.name.slice(file.name.lastIndexOf(".") + 1).toLowerCase();
  const mediaType = file.type || TYPES[extension] || "application/octet-stream";
  return { kind: "media", name: file.name, mediaType, data: await base64Of(file) };
}

/** The content of a file in base64. */
export function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
