import { GatewayError } from "../lib/gateway_error.ts";
import { PICTURE_HEAD_BYTES, pictureFactsOf } from "../lib/picture_head.ts";
import { download } from "../net/download.ts";
import type { MediaFetch } from "../net/media_inliner.ts";
import type { EgressPolicy } from "../net/target.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import type { GeneratedImage } from "../upstreams/image_upstream.ts";
import { base64Length, firstBytesOf, isBase64, piecesOfBytes, piecesOfText } from "./base64.ts";

/** A picture in memory. */
export interface FinishedImage {
  /** The length in base64. */
  readonly base64Length: number;
  /** The picture as base64 to send. */
  pieces(): Iterable<Uint8Array<ArrayBuffer>>;
  /** `<width>x<height>` from its own bytes; null if they do not state it. */
  measure(): string | null;
}

/**
 * Obtains a vendor's picture from its response or address. Rejects with {@linkcode UpstreamFailure}, and with what
 * `reserve` throws as a `GatewayError`.
 */
export type ImageFinisher = (image: GeneratedImage, provider: string, fetch: MediaFetch) => Promise<FinishedImage>;

const MAX_RESULT_BYTES = 64_000_000;
const MAX_DOWNLOAD_MS = 60_000;
const DEFAULT_HEAD_BYTES = 65_536;

/** Creates a finisher. Addresses come from the vendor and are downloaded under the egress rules. */
export function createImageFinisher(policy: EgressPolicy): ImageFinisher {
  return async ({ result }, provider, fetch) => {
    if (result.kind === "base64") return fromText(result.data, provider);
    const bytes = await fetched(result.url, provider, fetch, policy);
    return {
      base64Length: base64Length(bytes.length),
      pieces: () => piecesOfBytes(bytes),
      measure: () => sizeIn((most) => bytes.subarray(0, most)),
    };
  };
}

function fromText(data: string, provider: string): FinishedImage {
  if (!isBase64(data)) throw broken(provider, "sent an image that is no base64");
  const text = /[-_]/.test(data) ? data.replaceAll("-", "+").replaceAll("_", "/") : data;
  return {
    base64Length: text.length,
    pieces: () => piecesOfText(text),
    measure: () => sizeIn((most) => firstBytesOf(text, most)),
  };
}

async function fetched(url: string, provider: string, fetch: MediaFetch, policy: EgressPolicy) {
  try {
    const options = { maxBytes: MAX_RESULT_BYTES, timeoutMs: MAX_DOWNLOAD_MS, accept: "image/*", ...fetch };
    const { bytes } = await download(url, options, policy);
    if (bytes.length === 0) throw new RangeError("Cannot use an empty image");
    return bytes;
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    if (fetch.signal.aborted) throw failure(provider, "cancelled", "was cancelled", cause);
    throw broken(provider, "made an image that could not be downloaded", cause);
  }
}

function sizeIn(head: (mostBytes: number) => Uint8Array): string | null {
  const facts = pictureFactsOf(head(DEFAULT_HEAD_BYTES)) ?? pictureFactsOf(head(PICTURE_HEAD_BYTES));
  return facts && `${facts.width}x${facts.height}`;
}

function broken(provider: string, what: string, cause?: unknown): UpstreamFailure {
  return failure(provider, "broken", what, cause);
}

function failure(provider: string, kind: "broken" | "cancelled", what: string, cause?: unknown): UpstreamFailure {
  return new UpstreamFailure(provider, kind, `Provider "${provider}" ${what}`, {
    status: 200,
    accepted: "unknown",
    cause,
  });
}
