import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { plainBase64 } from "../../platform/lib/media/data_uri.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import { judgeMedium, MEDIUM_HEAD_BYTES } from "../../platform/lib/media/medium.ts";
import { OnceFor } from "../../platform/lib/collections/once_for.ts";
import { IMAGE_HEAD_BYTES, imageFactsOf } from "../../platform/lib/media/picture_head.ts";
import { download } from "../../platform/net/download.ts";
import type { MediaFetch } from "../../platform/net/media_inliner.ts";
import type { EgressPolicy } from "../../platform/net/target.ts";
import { UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import type { GeneratedImage } from "../../vendors/upstreams/contract/image_upstream.ts";
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
export type ImageFinisher = (image: GeneratedImage, provider: string, fetch: ResultFetch) => Promise<FinishedImage>;

/** The context of one picture. */
export interface ResultFetch extends MediaFetch {
  /** Whether the request orders SVG. */
  readonly takesSvg: boolean;
}

const MAX_RESULT_BYTES = 64_000_000;
const MAX_DOWNLOAD_MS = 60_000;
const DEFAULT_HEAD_BYTES = 65_536;

/**
 * Creates a finisher. Addresses come from the vendor and are downloaded under the egress rules. What is no picture by
 * its first bytes is a failure of the vendor. An unknown kind is logged once for each provider.
 */
export function createImageFinisher(policy: EgressPolicy, log: Log): ImageFinisher {
  const unknown = new OnceFor();
  async function judge(head: Uint8Array, declaredType: string | null, provider: string, takesSvg: boolean) {
    const { problem, isUnknown } = await judgeMedium(head, { kind: "image", declaredType, takesSvg });
    if (problem !== null) throw broken(provider, `sent something else than an image: ${problem}`);
    if (isUnknown && unknown.isFirst(provider)) {
      log.warn("medium_unknown", { provider, reason: `declared as ${declaredType || "nothing"}` });
    }
  }
  return async ({ result, mediaType }, provider, { takesSvg, ...fetch }) => {
    if (result.kind === "base64") {
      const data = plainBase64(result.data);
      const image = fromText(data, provider);
      await judge(firstBytesOf(data, MEDIUM_HEAD_BYTES), mediaType, provider, takesSvg);
      return image;
    }
    const { bytes, mediaType: declaredType } = await fetched(result.url, provider, fetch, policy);
    await judge(bytes.subarray(0, MEDIUM_HEAD_BYTES), declaredType, provider, takesSvg);
    return {
      base64Length: base64Length(bytes.length),
      pieces: () => piecesOfBytes(bytes),
      measure: () => sizeIn((most) => bytes.subarray(0, most)),
    };
  };
}

function fromText(text: string, provider: string): FinishedImage {
  if (!isBase64(text)) throw broken(provider, "sent an image that is no base64");
  return {
    base64Length: text.length,
    pieces: () => piecesOfText(text),
    measure: () => sizeIn((most) => firstBytesOf(text, most)),
  };
}

async function fetched(url: string, provider: string, fetch: MediaFetch, policy: EgressPolicy) {
  try {
    const options = { maxBytes: MAX_RESULT_BYTES, timeoutMs: MAX_DOWNLOAD_MS, accept: "image/*", ...fetch };
    return await download(url, options, policy);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    if (fetch.signal.aborted) throw failure(provider, "cancelled", "was cancelled", cause);
    throw broken(provider, "made an image that could not be downloaded", cause);
  }
}

function sizeIn(head: (mostBytes: number) => Uint8Array): string | null {
  const facts = imageFactsOf(head(DEFAULT_HEAD_BYTES)) ?? imageFactsOf(head(IMAGE_HEAD_BYTES));
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
