import { isDataUri } from "../../../platform/lib/media/data_uri.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { type ImageFacts, imageFactsOf } from "../../../platform/lib/media/picture_head.ts";
import { decodedBase64, FileReference, isAddress, type SentMedia } from "../../../platform/lib/media/sent_media.ts";
import { download, type DownloadOptions, DownloadRefused } from "../../../platform/net/download.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import type { ImageSource } from "../../../vendors/upstreams/contract/image_upstream.ts";
import type { MediaWork } from "../../../platform/workers/media_work.ts";
import { findReferred, type ReadableFiles, readReferred } from "../../stored_files/file_reference.ts";

/** Obtains the input pictures of a caller. */
export type ReferenceReader = (
  values: readonly (SentMedia | FileReference)[],
  caller: ReferenceCaller,
) => Promise<ImageSource[]>;

/** The caller of a reference download. */
export interface ReferenceCaller {
  readonly accountId: string;
  readonly keyId: string;
  /** Fires when the caller disconnects. */
  readonly signal: AbortSignal | undefined;
  /** Called before bytes are downloaded; throws to reject them. Default: all are accepted. */
  readonly reserve?: (bytes: number) => void;
  /** The name of a reference in errors, by its index; a file has its own. Default: `input_images[<index>]`. */
  readonly fieldOf?: (index: number) => string;
}

/** The maximum number of pixels of a picture. */
export const MAX_PIXELS = 64_000_000;

/** The maximum size of one reference. */
const MAX_REFERENCE_BYTES = 20_000_000;

/** Base64 with escapes, line breaks and a head. */
const MAX_CHARACTERS_PER_BYTE = 2;

const MAX_DOWNLOAD_MS = 30_000;

/** The dependencies of {@linkcode createReferenceReader}. */
export interface ReferenceReaderParts {
  readonly policy: EgressPolicy;
  readonly media: MediaWork;
  readonly stored: ReadableFiles;
}

/**
 * Creates the reader of references: addresses under the egress rules, data URIs, plain base64 in either alphabet, or
 * stored files. Each must be a PNG, JPEG or WebP by its content. A thread checks that it can be decoded. The reader
 * throws `invalid_request`, naming the item, and what {@linkcode MediaWork} throws.
 */
export function createReferenceReader({ policy, media, stored }: ReferenceReaderParts): ReferenceReader {
  return async (values, { accountId, keyId, signal, reserve, fieldOf = (index) => `input_images[${index}]` }) => {
    const sources: ImageSource[] = [];
    for (const [index, value] of values.entries()) {
      const isFile = value instanceof FileReference;
      const field = isFile ? value.field : fieldOf(index);
      const bytes = isFile
        ? await readFile(value, { stored, keyId, reserve })
        : await bytesOf(field, value, policy, { signal, reserve });
      const facts = factsOf(field, bytes);
      const checked = await media.checkPicture(bytes, accountId);
      if (checked.problem === "not_image") throw invalidField(field, "expected an image that can be decoded");
      if (checked.problem === "too_large") {
        throw invalidField(field, "expected an image that takes less work to decode");
      }
      sources.push({ ...facts, lengthBytes: checked.bytes.length, open: () => once(checked.bytes) });
    }
    return sources;
  };
}

interface FileReading extends Pick<ReferenceReaderParts, "stored">, Pick<ReferenceCaller, "keyId"> {
  readonly reserve: ReferenceCaller["reserve"] | undefined;
}

async function readFile(reference: FileReference, { stored, keyId, reserve }: FileReading) {
  const referred = await findReferred(stored, keyId, reference);
  const { bytes } = referred.file;
  if (bytes > MAX_REFERENCE_BYTES) throw tooLarge(reference.field);
  reserve?.(bytes);
  return await readReferred(stored, referred);
}

type ReferenceFetch = Pick<DownloadOptions, "signal" | "reserve">;

function bytesOf(field: string, value: SentMedia, policy: EgressPolicy, fetch: ReferenceFetch) {
  const isFetched = typeof value === "string" && isAddress(value) && !isDataUri(value);
  return isFetched ? fetched(field, value, policy, fetch) : decoded(field, value);
}

function decoded(field: string, value: SentMedia): Uint8Array<ArrayBuffer> {
  const characters = typeof value === "string" ? value.length : value.characters;
  if (characters > MAX_REFERENCE_BYTES * MAX_CHARACTERS_PER_BYTE) throw tooLarge(field);
  const media = decodedBase64(value);
  const bytes = typeof media === "string" ? null : media.bytes;
  if (bytes === null) throw invalidField(field, "expected an address, a data URI or valid base64");
  if (bytes.length > MAX_REFERENCE_BYTES) throw tooLarge(field);
  return bytes;
}

async function fetched(
  field: string,
  address: string,
  policy: EgressPolicy,
  fetch: ReferenceFetch,
): Promise<Uint8Array<ArrayBuffer>> {
  const options = { maxBytes: MAX_REFERENCE_BYTES, timeoutMs: MAX_DOWNLOAD_MS, accept: "image/*", ...fetch };
  try {
    return (await download(address, options, policy)).bytes;
  } catch (error) {
    if (error instanceof EgressError && error.kind === "too_large") throw tooLarge(field);
    if (!(error instanceof EgressError) && !(error instanceof DownloadRefused)) throw error;
    const what = error instanceof EgressError && error.kind === "refused" ? "the address" : "the download";
    throw invalidField(field, `${what} was refused or failed: ${error.message}`, { cause: error });
  }
}

function factsOf(field: string, bytes: Uint8Array<ArrayBuffer>): ImageFacts {
  const facts = imageFactsOf(bytes);
  if (facts === null || facts.mediaType === "image/gif") {
    throw invalidField(field, "expected a PNG, JPEG or WebP image");
  }
  if (facts.width * facts.height > MAX_PIXELS) {
    throw invalidField(field, `expected at most ${MAX_PIXELS} pixels, got ${facts.width}x${facts.height}`);
  }
  return facts;
}

async function* once(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield bytes;
}

function tooLarge(field: string) {
  return invalidField(field, `expected an image of at most ${MAX_REFERENCE_BYTES} bytes`);
}
