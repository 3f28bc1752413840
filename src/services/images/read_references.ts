import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { ImageSource } from "../../vendors/upstreams/contract/image_upstream.ts";
import { FileReference } from "../../platform/lib/media/sent_media.ts";
import { referenceField } from "./edit/edit_body.ts";
import type { ImageRequest } from "./request/image_request.ts";
import type { ReferenceCaller, ReferenceReader } from "./request/reference_image.ts";

/** The pictures to which a request refers. */
export interface ReadReferences {
  /** In the order of the request. */
  readonly images: readonly ImageSource[];
  readonly mask: ImageSource | null;
}

/**
 * Obtains the pictures to which a request refers, and its mask.
 *
 * @throws {GatewayError} What the reader throws; `invalid_request` for a mask that is no PNG.
 */
export async function readReferencesOf(
  { kind, references, maskReference }: ImageRequest,
  read: ReferenceReader,
  caller: ReferenceCaller,
): Promise<ReadReferences> {
  const all = maskReference === null ? references : [...references, maskReference];
  if (all.length === 0) return { images: [], mask: null };
  const names = kind === "edit" ? { fieldOf: (index: number) => referenceField(index, references.length) } : {};
  const sources = await read(all, { ...caller, ...names });
  const mask = sources[references.length] ?? null;
  if (mask !== null && mask.mediaType !== "image/png") {
    const field = maskReference instanceof FileReference ? maskReference.field : "mask.image_url";
    throw invalidField(field, "expected a PNG image");
  }
  return { images: sources.slice(0, references.length), mask };
}
