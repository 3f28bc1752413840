import type { StoredFileRecord } from "../services/stored_files/stored_file.ts";
import type { OpenedContent } from "../services/stored_files/stored_files.ts";

/** How a content is served. */
export interface ServedContent {
  /** The method of the request: the response to HEAD has no body. */
  readonly method: string;
  /** The name of the file that a browser stores. ASCII without quotes. */
  readonly name: string;
  /** Default: that of the content. */
  readonly mediaType?: string;
}

/** Names that every system takes as they are. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

/** The name under which a browser stores a file: its own, unless that has other characters than plain ones. */
export function downloadNameOf({ id, filename }: Pick<StoredFileRecord, "id" | "filename">): string {
  return PLAIN_NAME.test(filename) ? filename : id;
}

/** The response with a stored content. No browser guesses its type, or runs what a caller has stored. */
export async function storedContentResponse(
  { bytes, mediaType, stream }: OpenedContent,
  served: ServedContent,
): Promise<Response> {
  const isHead = served.method === "HEAD";
  if (isHead) await stream.cancel();
  return new Response(isHead ? null : stream, {
    headers: {
      "content-type": served.mediaType ?? mediaType,
      "content-length": String(bytes),
      "content-disposition": `attachment; filename="${served.name}"`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox",
      "cache-control": "private, no-store",
    },
  });
}
