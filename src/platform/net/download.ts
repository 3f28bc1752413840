import { essenceOf } from "../lib/media/content_type.ts";
import { GrowingBytes } from "../lib/bytes/growing_bytes.ts";
import { EgressError } from "./egress_error.ts";
import { guardedFetch, type GuardedResponse } from "./guarded_fetch.ts";
import type { EgressPolicy, Schemes } from "./target.ts";

/** What to download, and its limits. */
export interface DownloadOptions {
  readonly maxBytes: number;
  /** The time limit of the whole download. Default 60 s. */
  readonly timeoutMs?: number;
  /** Default: http and https. */
  readonly schemes?: Schemes;
  /** The `Accept` header, such as `image/*`. */
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * The range for {@linkcode openDownload}, as a `Range` field (RFC 9110, 14.2): `bytes=0-499`. Default: the whole
   * file.
   */
  readonly range?: string | null | undefined;
  /**
   * Called by {@linkcode download} before bytes are read: once with the declared length, else in steps. It throws to
   * reject them. Default: all are accepted.
   */
  readonly reserve?: ((bytes: number) => void) | undefined;
}

/** A downloaded file. */
export interface Download {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /**
   * The type that the server declares, in lower case and without parameters; empty if it declares none. Not
   * trustworthy.
   */
  readonly mediaType: string;
}

/** A file while it is downloaded. */
export interface DownloadStream {
  /** See {@linkcode GuardedResponse.body}. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly mediaType: string;
  /** The length that the server declares; null if it declares none. */
  readonly length: number | null;
  /** The range of the body as a `Content-Range` field (`bytes 0-499/1234`); null for the whole file. */
  readonly part: string | null;
  discard(): void;
}

/** The server responded with an error status. */
export class DownloadRefused extends Error {
  override readonly name = "DownloadRefused";

  /** @param status The status of the response. */
  constructor(readonly status: number) {
    super(`the server answered ${status}`);
  }
}

const REDIRECTS = 3;
const TIMEOUT_MS = 60_000;

/**
 * Downloads a file from an address given by a caller or a vendor, with the egress rules applied.
 *
 * @throws {EgressError} If the address is refused, the download fails or the file is too large.
 * @throws {DownloadRefused} If the status is not 200.
 * @throws {unknown} What `reserve` throws.
 */
export async function download(address: unknown, options: DownloadOptions, policy: EgressPolicy): Promise<Download> {
  const { body, mediaType, length, discard } = await openDownload(address, options, policy);
  let bytes: GrowingBytes;
  try {
    bytes = new GrowingBytes({ expectedBytes: length, ...(options.reserve && { reserve: options.reserve }) });
  } catch (error) {
    discard();
    throw error;
  }
  try {
    for await (const chunk of body) bytes.add(chunk);
    return { bytes: bytes.finish(), mediaType };
  } catch (error) {
    bytes.drop();
    throw error;
  }
}

/**
 * Like {@linkcode download}, for files that are too large to buffer. The caller reads or discards the body. A server
 * may return the whole file although a range is requested.
 */
export async function openDownload(
  address: unknown,
  options: DownloadOptions,
  policy: EgressPolicy,
): Promise<DownloadStream> {
  const response = await guardedFetch(address, {
    method: "GET",
    headers: {
      accept: options.accept ?? "*/*",
      "user-agent": "switchyard",
      ...(options.range ? { range: options.range } : {}),
    },
    schemes: options.schemes ?? ["https:", "http:"],
    redirects: REDIRECTS,
    maxBytes: options.maxBytes,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    signal: options.signal,
  }, policy);
  const part = options.range && response.status === 206 ? partOf(response) : null;
  if (response.status !== 200 && part === null) {
    response.discard();
    throw new DownloadRefused(response.status);
  }
  const length = lengthOf(response);
  if (length !== null && length > options.maxBytes) {
    response.discard();
    throw new EgressError("too_large", `expected at most ${options.maxBytes} bytes`);
  }
  const { body } = response;
  return { body, mediaType: mediaTypeOf(response), length, part, discard: () => response.discard() };
}

/** Null if the response does not state its range. */
function partOf(response: GuardedResponse): string | null {
  const field = response.header("content-range");
  return field !== null && /^bytes \d{1,15}-\d{1,15}\/(\d{1,15}|\*)$/.test(field) ? field : null;
}

function mediaTypeOf(response: GuardedResponse): string {
  return essenceOf(response.header("content-type") ?? "");
}

function lengthOf(response: GuardedResponse): number | null {
  const field = response.header("content-length");
  return field !== null && /^[0-9]{1,15}$/.test(field) ? Number(field) : null;
}
