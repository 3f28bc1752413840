import { GatewayError } from "../lib/gateway_error.ts";
import type { Source } from "./conversation.ts";

/** Where bytes are, as one text: an address, or a `data:` URL that holds them. */
export function addressOf(source: Source): string {
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/**
 * The same for another vendor to read.
 *
 * @throws {GatewayError} `invalid_request` for an address that only its own vendor can resolve: a bucket's object, or a
 * file that was uploaded there with the caller's key.
 */
export function portableAddressOf(source: Source): string {
  if (source.kind === "url" && !isPortable(source.url)) {
    throw new GatewayError(
      "invalid_request",
      "Cannot send a file that is stored at another vendor to this model's vendor: send its data or a web address",
    );
  }
  return addressOf(source);
}

function isPortable(url: string): boolean {
  return /^https?:\/\//i.test(url) && !url.startsWith("https://generativelanguage.googleapis.com/");
}
