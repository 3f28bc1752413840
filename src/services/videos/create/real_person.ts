import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { type ImageFacts, imageFactsOf } from "../../../platform/lib/media/picture_head.ts";
import { download, DownloadRefused } from "../../../platform/net/download.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import type { MediaWork } from "../../../platform/workers/media_work.ts";
import { decodedMedia, FileReference } from "../../../platform/lib/media/sent_media.ts";
import type { SentReference } from "../request/references.ts";
import type { ReferenceFiles } from "./reference_files.ts";

/** Why an image cannot be prepared. Source: docs/api/errors.md#reason-codes. */
type PictureFault = "bad_data_uri" | "download_failed" | "unreachable" | "not_image" | "too_large";

/** An image in the format that is sent to vendors. */
export interface PreparedImage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: "image/jpeg" | "image/png";
}

const MAX_IMAGE_BYTES = 20_000_000;
const MAX_PIXELS = 50_000_000;
/** Limit for all images of one request. */
const MAX_REQUEST_BYTES = 80_000_000;
const MAX_REQUEST_PIXELS = 200_000_000;
/** Maximum length of the long side in pixels; larger images are scaled down. */
const LONG_SIDE = 2_048;
const FETCH_MS = 15_000;

/** Dependencies for reading images. */
export interface ImageSources {
  readonly egress: EgressPolicy;
  /** Called before bytes are fetched; throws if they may not be. Default: no limit. */
  readonly reserve?: ((bytes: number) => void) | undefined;
  /** The stored files that references name; null if they name none. */
  readonly files: ReferenceFiles | null;
}

/**
 * Prepares the images of a request for a vendor that detects faces. Each is upright, at most 2,048 pixels a side and
 * without metadata. PNG stays PNG; other formats become JPEG. Dimensions are read before an image is decoded, in
 * another thread.
 *
 * @returns The images in the order of the references.
 * @throws {GatewayError} `invalid_request` whose message ends in the reason code and the position.
 */
export async function prepareImages(
  references: readonly SentReference[],
  accountId: string,
  { egress, media, reserve, files }: ImageSources & { readonly media: MediaWork },
): Promise<PreparedImage[]> {
  const prepared: PreparedImage[] = [];
  const work = { bytes: 0, pixels: 0 };
  for (const reference of references) {
    const sent = await bytesOf(reference, { egress, reserve, files });
    work.bytes += sent.length;
    if (work.bytes > MAX_REQUEST_BYTES) throw fault("too_large", reference);
    const facts = factsOf(sent, reference);
    work.pixels += facts.width * facts.height;
    if (work.pixels > MAX_REQUEST_PIXELS) throw fault("too_large", reference);
    const mediaType = facts.mediaType === "image/png" ? "image/png" : "image/jpeg";
    const bytes = await media.reencodePicture(sent, { mediaType, maxSide: LONG_SIDE }, accountId);
    if (typeof bytes === "string") throw fault(bytes, reference);
    prepared.push({ bytes, mediaType });
  }
  return prepared;
}

async function bytesOf(
  reference: SentReference,
  { egress, reserve, files }: ImageSources,
): Promise<Uint8Array<ArrayBuffer>> {
  if (reference.url instanceof FileReference) {
    if (files === null) throw new Error("The files of the references were not looked for");
    const { bytes } = files.fileOf(reference.url);
    if (bytes > MAX_IMAGE_BYTES) throw fault("too_large", reference);
    reserve?.(bytes);
    return await files.readAll(reference.url);
  }
  const url = decodedMedia(reference.url);
  if (typeof url !== "string") {
    const { bytes, isBase64 } = url;
    // Pictures are written in base64: text that is none of them was meant to be.
    const isText = bytes !== null && !isBase64 && imageFactsOf(bytes) === null;
    if (bytes === null || isText) throw fault("bad_data_uri", reference);
    if (bytes.length > MAX_IMAGE_BYTES) throw fault("too_large", reference);
    return bytes;
  }
  try {
    const options = { maxBytes: MAX_IMAGE_BYTES, timeoutMs: FETCH_MS, accept: "image/*", reserve };
    return (await download(url, options, egress)).bytes;
  } catch (error) {
    if (error instanceof DownloadRefused) throw fault("unreachable", reference, error);
    if (!(error instanceof EgressError)) throw error;
    throw fault(error.kind === "too_large" ? "too_large" : "download_failed", reference, error);
  }
}

function factsOf(bytes: Uint8Array, reference: SentReference): ImageFacts {
  const facts = imageFactsOf(bytes);
  if (facts === null) throw fault("not_image", reference);
  if (facts.width * facts.height > MAX_PIXELS) throw fault("too_large", reference);
  return facts;
}

function fault(code: PictureFault, { field }: SentReference, cause?: unknown): GatewayError {
  return new GatewayError("invalid_request", `Cannot prepare the reference image: ${code} at ${field}`, {
    field,
    cause,
  });
}
