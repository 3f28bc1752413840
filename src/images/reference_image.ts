import { Buffer } from "node:buffer";
import { invalidField } from "../lib/gateway_error.ts";
import { download, DownloadRefused } from "../net/download.ts";
import { EgressError } from "../net/egress_error.ts";
import type { EgressPolicy } from "../net/target.ts";
import type { ImageSource } from "../upstreams/image_upstream.ts";
import { isBase64 } from "./base64.ts";
import { MOST_PIXELS, PICTURE_HEAD_BYTES, pictureFactsOf } from "./picture.ts";

/** Gets the pictures that a caller wants looked at. */
export type ReferenceReader = (values: readonly string[], signal: AbortSignal | undefined) => Promise<ImageSource[]>;

/** The most bytes of one reference. */
export const LARGEST_REFERENCE_BYTES = 20_000_000;

const LONGEST_DOWNLOAD_MS = 30_000;
const ADDRESS = /^[a-z][a-z0-9+.-]*:/i;

/**
 * The function that reads `input_images`: addresses under the egress guard, data URIs, or plain base64 in either
 * alphabet. Each must be a PNG, JPEG or WebP by content that can be decoded. The function throws `invalid_request`,
 * naming the item.
 */
export function createReferenceReader(policy: EgressPolicy): ReferenceReader {
  const decodes = inTurn(canBeDecoded);
  return async (values, signal) => {
    const sources: ImageSource[] = [];
    for (const [index, value] of values.entries()) {
      const field = `input_images[${index}]`;
      const bytes = await bytesOf(field, value, policy, signal);
      const source = pictureOf(field, bytes);
      if (!await decodes(bytes, source.mediaType)) throw invalidField(field, "expected an image that can be decoded");
      sources.push(source);
    }
    return sources;
  };
}

function bytesOf(field: string, value: string, policy: EgressPolicy, signal: AbortSignal | undefined) {
  if (/^data:/i.test(value)) return decoded(field, payloadOf(field, value));
  if (ADDRESS.test(value.slice(0, 40))) return fetched(field, value, policy, signal);
  return decoded(field, value);
}

/** What stands behind the comma of a data URI. Source: RFC 2397. */
function payloadOf(field: string, uri: string): string {
  const comma = uri.indexOf(",");
  if (comma < 0 || comma > 200 || !/;\s*base64$/i.test(uri.slice(0, comma))) {
    throw invalidField(field, "expected a data URI in base64");
  }
  return uri.slice(comma + 1);
}

function decoded(field: string, text: string): Uint8Array<ArrayBuffer> {
  if (text.length > LARGEST_REFERENCE_BYTES / 3 * 4 + 4) throw tooLarge(field);
  if (!isBase64(text)) {
    throw invalidField(field, "expected an address, a data URI or valid base64");
  }
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > LARGEST_REFERENCE_BYTES) throw tooLarge(field);
  return bytes;
}

async function fetched(
  field: string,
  address: string,
  policy: EgressPolicy,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const options = { maxBytes: LARGEST_REFERENCE_BYTES, timeoutMs: LONGEST_DOWNLOAD_MS, accept: "image/*", signal };
  try {
    return (await download(address, options, policy)).bytes;
  } catch (error) {
    if (error instanceof EgressError && error.kind === "too_large") throw tooLarge(field);
    if (!(error instanceof EgressError) && !(error instanceof DownloadRefused)) throw error;
    const what = error instanceof EgressError && error.kind === "refused" ? "the address" : "the download";
    throw invalidField(field, `${what} was refused or failed: ${error.message}`, { cause: error });
  }
}

function pictureOf(field: string, bytes: Uint8Array<ArrayBuffer>): ImageSource {
  const facts = pictureFactsOf(bytes.subarray(0, PICTURE_HEAD_BYTES));
  if (facts === null) throw invalidField(field, "expected a PNG, JPEG or WebP image");
  if (facts.width * facts.height > MOST_PIXELS) {
    throw invalidField(field, `expected at most ${MOST_PIXELS} pixels, got ${facts.width}x${facts.height}`);
  }
  return { ...facts, lengthBytes: bytes.length, open: () => once(bytes) };
}

async function* once(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield bytes;
}

async function canBeDecoded(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<boolean> {
  try {
    (await createImageBitmap(new Blob([bytes], { type }))).close();
    return true;
  } catch {
    return false; // the decoder says only that it could not
  }
}

/** One call at a time: a picture of the most pixels takes a quarter of a gigabyte while it is decoded. */
function inTurn<A extends unknown[], R>(work: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const result = last.then(() => work(...args));
    last = result.catch(() => {});
    return result;
  };
}

function tooLarge(field: string) {
  return invalidField(field, `expected an image of at most ${LARGEST_REFERENCE_BYTES} bytes`);
}
