import { invalidField } from "../lib/gateway_error.ts";
import type { Source } from "./conversation.ts";

/** Where bytes are, as one text: an address, or a `data:` URL that holds them. */
export function addressOf(source: Source): string {
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/**
 * The same for another vendor to read.
 *
 * @param loss The neutral name of what has the address.
 * @throws {GatewayError} `invalid_request` for an address that only its own vendor can resolve: a bucket's object, or a
 * file that was uploaded there with the caller's key.
 */
export function portableAddressOf(source: Source, loss: "image" | "file" | "video"): string {
  if (source.kind === "url" && !isPortable(source.url)) {
    throw invalidField(loss, "it is stored at another vendor than this model's: send its data or a web address");
  }
  return addressOf(source);
}

function isPortable(url: string): boolean {
  return /^https?:\/\//i.test(url) && !url.startsWith("https://generativelanguage.googleapis.com/");
}
