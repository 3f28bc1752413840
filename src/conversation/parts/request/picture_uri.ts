import { bytesOfDataUri } from "../../../platform/lib/media/data_uri.ts";
import { imageFactsOf } from "../../../platform/lib/media/picture_head.ts";

/** Whether a `data:` URI has a picture by its bytes, not by its type. */
export function isImageUri(uri: string): boolean {
  const bytes = bytesOfDataUri(uri);
  return bytes !== null && imageFactsOf(bytes) !== null;
}
