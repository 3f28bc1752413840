import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { Source } from "../../neutral/conversation.ts";

/** The address of media, or a `data:` URL with its bytes. */
export function addressOf(source: Source): string {
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/**
 * The address of media, for a vendor other than the one that issued it.
 *
 * @param loss The neutral name of the part.
 * @throws {GatewayError} `invalid_request` for an address that only its own vendor can resolve: an object in a bucket,
 * or a file uploaded there with the caller's key.
 */
export function portableAddressOf(source: Source, loss: "image" | "file" | "video"): string {
  if (source.kind === "url" && !isPortable(source.url)) {
    throw invalidField(loss, "the file is stored at another vendor; send its data or a public http or https URL");
  }
  return addressOf(source);
}

function isPortable(url: string): boolean {
  return /^https?:\/\//i.test(url) && !url.startsWith("https://generativelanguage.googleapis.com/");
}

/** The first base64 characters of the four image types that most formats support. */
const IMAGE_PREFIXES: readonly (readonly [start: string, mediaType: string])[] = [
  ["/9j/", "image/jpeg"],
  ["iVBORw0KGgo", "image/png"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

/**
 * The media type of an image, detected from its bytes if possible, because vendors reject a wrong one. Null if it is
 * neither JPEG, PNG, GIF nor WebP.
 */
export function commonImageType({ data, mediaType }: Source & { readonly kind: "base64" }): string | null {
  const detected = IMAGE_PREFIXES.find(([start]) => data.startsWith(start))?.[1];
  const type = detected ?? mediaType.replace("image/jpg", "image/jpeg");
  return IMAGE_PREFIXES.some(([, known]) => known === type) ? type : null;
}
