import type { Source } from "../../conversation.ts";

/** Where bytes are, as one text: an address, or a data: URL that holds them. */
export function addressOf(source: Source): string {
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
