import { Buffer } from "node:buffer";
import { GatewayError } from "../lib/basics/gateway_error.ts";
import { mediaTypeOf } from "../lib/media/media_type.ts";
import { download, DownloadRefused } from "./download.ts";
import { EgressError } from "./egress_error.ts";
import type { EgressPolicy } from "./target.ts";

/** A media file downloaded from a caller's address: standard base64 and its detected type. */
export interface InlinedMedium {
  readonly mediaType: string;
  readonly data: string;
}

/** Options of one download. */
export interface MediaFetch {
  /** Cancels the download. */
  readonly signal: AbortSignal;
  /** As in {@linkcode DownloadOptions}. */
  readonly reserve: (bytes: number) => void;
}

const MAX_MEDIA_BYTES = 20_000_000;
const MAX_DOWNLOAD_MS = 30_000;

/**
 * Returns a function that downloads media under the egress rules, at most 20 MB in 30 s each. The type is detected from
 * the first bytes. The server's type is used for plain text only, which has no signature.
 *
 * @returns A function that throws {@linkcode GatewayError} `invalid_request` if the download fails, and what `reserve`
 * throws.
 */
export function createMediaInliner(policy: EgressPolicy): (url: string, fetch: MediaFetch) => Promise<InlinedMedium> {
  return async (url, fetch) => {
    const { bytes, mediaType: declared } = await fetched(url, fetch, policy);
    const found = await mediaTypeOf(bytes);
    const mediaType = found ?? (declared.startsWith("text/") ? "text/plain" : null);
    if (mediaType === null) throw new GatewayError("invalid_request", "the content has no known type");
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
    bytes.buffer.transfer(0); // frees the bytes at once instead of at the next garbage collection
    return { mediaType, data };
  };
}

async function fetched(url: string, fetch: MediaFetch, policy: EgressPolicy) {
  try {
    return await download(url, { maxBytes: MAX_MEDIA_BYTES, timeoutMs: MAX_DOWNLOAD_MS, ...fetch }, policy);
  } catch (error) {
    if (!(error instanceof EgressError) && !(error instanceof DownloadRefused)) throw error;
    throw new GatewayError("invalid_request", `the download failed: ${error.message}`, { cause: error });
  }
}
